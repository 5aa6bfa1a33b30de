import { z } from 'zod'
import { compareVersions } from '../../src/catalog/version.ts'
import recorded from './released.json' with { type: 'json' }

const release = z.strictObject({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  /** Full name of the commit that has the tag of the version. */
  commit: z.string().regex(/^[0-9a-f]{40}$/),
})
/** A released version of hyperkube and the commit from which its files were made. */
export type ReleasedVersion = z.infer<typeof release>

/** Parses released.json. Throws unless it lists the newest version first. */
export function parseReleasedVersions(
  document: unknown,
): readonly [ReleasedVersion, ...(readonly ReleasedVersion[])] {
  const [newest, ...others] = z.tuple([release], release).parse(document)
  let newer = newest
  for (const version of others) {
    if (compareVersions(newer.version, version.version) <= 0)
      throw new Error(`${newer.version} is above ${version.version}, but it is not newer`)
    newer = version
  }
  return [newest, ...others]
}

/** Reads all released versions, newest first. */
export function readReleasedVersions(): readonly [ReleasedVersion, ...(readonly ReleasedVersion[])] {
  return parseReleasedVersions(recorded)
}
