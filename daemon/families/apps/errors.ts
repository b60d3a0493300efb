import { defineErrors } from '../../../lib/errors.ts'

export const appError = defineErrors({
  template_not_found: {
    status: 404,
    text: 'There is no template with this id. GET /v1/templates lists them.',
  },
  revision_not_found: { status: 404, text: 'The app has no revision with this number.' },
  path_not_found: { status: 404, text: 'The revision has no file at this path.' },
  invalid_source: {
    status: 400,
    text: 'Give one of template_id and prompt; model and files go with a prompt.',
  },
  model_not_allowed: {
    status: 400,
    text: 'The operator does not allow this model. details.allowed_models lists those that are.',
  },
  model_not_configured: {
    status: 501,
    text: 'No language model is configured. The operator can set KEYHOOK_LLM_BASE_URL and KEYHOOK_LLM_MODEL; operations need none.',
  },
  alias_taken: {
    status: 409,
    text: 'Another app has this alias, or had it recently. Choose another.',
  },
  alias_reserved: {
    status: 400,
    text: 'This alias is reserved, because it looks like a part of the service. Choose another.',
  },
  app_archived: { status: 409, text: 'The app is archived. Restore it first.' },
  app_not_archived: { status: 409, text: 'The app is not archived.' },
  app_not_ready: { status: 409, text: 'The app has no revision yet. Wait until it is made.' },
  app_limit_reached: {
    status: 409,
    text: 'The account has reached its limit of 200 apps, or 400 with archived ones. Archive an app, or restore an archived one and reuse it.',
  },
})
