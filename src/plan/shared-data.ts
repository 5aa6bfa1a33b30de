import { stringify } from 'yaml'
import { artifactId, type Lock, type LockedArtifact } from '../catalog/lock.ts'

/** What all hosts of a cluster have in common, worked out once: there may be thousands of them. */
export interface Shared {
  readonly locked: ReadonlyMap<string, LockedArtifact>
  /** A document as YAML; the same document is the same text on every host. */
  readonly yaml: (document: object) => string
}

export function sharedOf({ artifacts }: Lock): Shared {
  const texts = new Map<string, string>()
  return {
    locked: new Map(artifacts.map((artifact) => [artifactId(artifact), artifact])),
    yaml: (document) => {
      const key = JSON.stringify(document)
      const text = texts.get(key) ?? stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
      texts.set(key, text)
      return text
    },
  }
}
