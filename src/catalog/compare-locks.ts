import { withoutDigest } from '../contract/image-reference.ts'
import { artifactId, type Lock, type LockedArtifact } from './lock.ts'

/** One difference between two locks. */
export interface LockChange {
  readonly what: string
  /** As short as shows the difference. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** It is another file than it was, under the same URL, or another image of the same name. That is no upgrade; somebody replaced it. */
  readonly replaced: boolean
}

export function lockChanges(before: Lock | undefined, after: Lock): readonly LockChange[] {
  const [old, fresh] = [before === undefined ? new Map<string, Entry>() : entries(before), entries(after)]
  return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((what) => {
    const [left, right] = [old.get(what), fresh.get(what)]
    if (left?.whole === right?.whole) return []
    const replaced = left?.at !== undefined && left.at === right?.at && left.digest !== right.digest
    const shown = left?.brief === right?.brief ? 'whole' : 'brief'
    return [{ what, before: left?.[shown], after: right?.[shown], replaced }]
  })
}

interface Entry {
  readonly brief: string
  readonly whole: string
  /** Where its bytes are, and which they are. */
  readonly at?: string
  readonly digest?: string | undefined
}

function entries({ kubernetes, artifacts, images }: Lock): Map<string, Entry> {
  return new Map<string, Entry>([
    ['kubernetes', plain(kubernetes)],
    ...artifacts.map((file): [string, Entry] => [artifactId(file), artifactEntry(file)]),
    ...Object.entries(images).map(([name, image]): [string, Entry] => [`image ${name}`, imageEntry(image)]),
  ])
}

function plain(text: string): Entry {
  return { brief: text, whole: text }
}

function artifactEntry(file: LockedArtifact): Entry {
  const { version, url, sha256, trust } = file
  const brief = `${version} (${trust})`
  return { brief, whole: `${brief} ${url} sha256:${sha256}`, at: url, digest: sha256 }
}

/** One that was not pinned before has not been replaced by one that is. */
function imageEntry(image: string): Entry {
  const name = withoutDigest(image)
  return { brief: name, whole: image, ...(name === image ? {} : { at: name, digest: image }) }
}
