import { stringify } from 'yaml'
import { artifactId, type Lock, type LockedArtifact } from '../catalog/lock.ts'

/** Data that is equal for all hosts. It is computed only once, because there may be thousands of hosts. */
export interface SharedPlanData {
  readonly locked: ReadonlyMap<string, LockedArtifact>
  /** Renders a document as YAML. Texts are cached, because many hosts have equal documents. */
  readonly yaml: (document: object) => string
}

export function buildSharedPlanData({ artifacts }: Lock): SharedPlanData {
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
