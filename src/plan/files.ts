import type { PlannedFile } from '../contract/component-plan.ts'
import type { PublicIdentity } from '../identity/public-identity.ts'

interface FileOptions {
  readonly owner: string
  /** File mode. The default is 0600, because most files are read only by their owner. */
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

/**
 * Plans a file whose content is a secret. The plan holds only the name of the secret and a tag of its value.
 */
export function planSecretFile(
  path: string,
  secret: string,
  { tags }: PublicIdentity,
  { owner, mode = '0600', restart = true }: FileOptions,
): PlannedFile {
  // A check reports a secret without a value.
  return {
    path,
    owner,
    mode,
    content: { kind: 'secret', secret, tag: tags.get(secret) ?? 'missing' },
    restart,
  }
}
