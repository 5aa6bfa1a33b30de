import type { PlannedFile } from '../contract/component-plan.ts'
import type { PublicIdentity } from '../identity/public-identity.ts'

interface FileOptions {
  readonly owner: string
  /** Defaults to 0600: most of our files are needed by their owner alone. */
  readonly mode?: string
  readonly restart?: boolean
}

/** Plans a text file. By default a change restarts the component. */
export function planTextFile(
  path: string,
  text: string,
  { owner, mode = '0600', restart = true }: FileOptions,
): PlannedFile {
  return { path, owner, mode, content: { kind: 'text', text }, restart }
}

/** Plans a file with a secret. The plan holds only the name of the secret and a tag of its value. */
export function planSecretFile(
  path: string,
  secret: string,
  { tags }: PublicIdentity,
  { owner, mode = '0600', restart = true }: FileOptions,
): PlannedFile {
  // A secret without a value is reported as its own finding.
  return {
    path,
    owner,
    mode,
    content: { kind: 'secret', secret, tag: tags.get(secret) ?? 'missing' },
    restart,
  }
}
