import { defineErrors } from '../../../lib/errors.ts'

export const deployError = defineErrors({
  deployment_not_found: { status: 404, text: 'The app has no deployment with this id.' },
  deploy_in_progress: {
    status: 409,
    text: 'Another deployment of this app is in progress. Wait for its end, or cancel it.',
  },
  edit_in_progress: {
    status: 409,
    text: 'An edit of this app is in progress. Wait for its end, or name the revision to publish.',
  },
  already_live: { status: 409, text: 'This release is already live.' },
  no_previous_release: { status: 409, text: 'The app has no earlier release to roll back to.' },
  never_live: {
    status: 409,
    text: 'This deployment was never live. Choose one that was, or publish its revision.',
  },
  release_expired: {
    status: 409,
    text: 'The files of this release are no longer stored. Publish its revision instead.',
  },
  deployment_finished: {
    status: 409,
    text: 'The deployment has ended, or can no longer be stopped.',
  },
})
