import type { PlannedFile } from '../contract/component-plan.ts'
import type { PublicIdentity } from '../identity/public-identity.ts'

interface Reader {
  readonly owner: string
  /** Readable by its owner alone unless said otherwise: most of what we write concerns nobody else. */
  readonly mode?: string
  readonly restart?: boolean
}

/** A file whose changes a component sees only after a restart, unless said otherwise. */
export function textFile(
  path: string,
  text: string,
  { owner, mode = '0600', restart = true }: Reader,
): PlannedFile {
  return { path, owner, mode, content: { kind: 'text', text }, restart }
}

/** A file of which the plan has only the name and a tag. */
export function secretFile(
  path: string,
  secret: string,
  { tags }: PublicIdentity,
  { owner, mode = '0600', restart = true }: Reader,
): PlannedFile {
  // A secret that nobody has given yet is a finding of its own.
  return {
    path,
    owner,
    mode,
    content: { kind: 'secret', secret, tag: tags.get(secret) ?? 'missing' },
    restart,
  }
}
