import { artifactId, type Lock, type LockedArtifact } from './lock.ts'

/** One difference between two locks. */
export interface LockChange {
  readonly what: string
  /** As short as shows the difference. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** Upstream's file is another one than it was, under the same URL. That is no upgrade; somebody replaced it. */
  readonly replaced: boolean
}

export function lockChanges(before: Lock | undefined, after: Lock): readonly LockChange[] {
  const [old, fresh] = [before === undefined ? new Map<string, Entry>() : entries(before), entries(after)]
  return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((what) => {
    const [left, right] = [old.get(what), fresh.get(what)]
    if (left?.whole === right?.whole) return []
    const replaced =
      left?.file !== undefined && left.file.url === right?.file?.url && left.file.sha256 !== right.file.sha256
    const shown = left?.brief === right?.brief ? 'whole' : 'brief'
    return [{ what, before: left?.[shown], after: right?.[shown], replaced }]
  })
}

interface Entry {
  readonly brief: string
  readonly whole: string
  readonly file?: LockedArtifact
}

function entries({ kubernetes, artifacts, images }: Lock): Map<string, Entry> {
  return new Map<string, Entry>([
    ['kubernetes', plain(kubernetes)],
    ...artifacts.map((file): [string, Entry] => [artifactId(file), artifactEntry(file)]),
    ...Object.entries(images).map(([name, image]): [string, Entry] => [`image ${name}`, plain(image)]),
  ])
}

function plain(text: string): Entry {
  return { brief: text, whole: text }
}

function artifactEntry(file: LockedArtifact): Entry {
  const { version, url, sha256, trust } = file
  return { brief: `${version} (${trust})`, whole: `${version} (${trust}) ${url} sha256:${sha256}`, file }
}
