/** The job is another's by now, or its subject is gone. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}
