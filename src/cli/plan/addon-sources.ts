import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { OwnAddon } from '../../spec/user-addon.ts'
import type { Context } from '../command.ts'

type World = Pick<Context, 'readFile' | 'listDirectory' | 'fetcher' | 'signal'>
type Source = readonly [name: string, text: string]

/** Manifests of a person are far smaller, in bytes. */
const largest = 20_000_000
const isManifest = /\.(?:ya?ml|json)$/

/**
 * What the user's own addons are made of: texts by the names that cluster.yml gives them. One that is missing is left
 * out, and becomes a finding with the others.
 */
export async function readAddonSources(
  world: World,
  clusterFile: string,
  { spec }: Cluster,
): Promise<ReadonlyMap<string, string>> {
  const enabled = spec.addons.filter(({ enabled: isOn }) => isOn)
  const files = new Set(enabled.flatMap((addon) => addon.files))
  const read = [
    ...[...files].map(async (name) => readLocal(world, clusterFile, name)),
    ...enabled.flatMap(({ name, urls }) => urls.map(async (url) => [await readRemote(world, name, url)])),
  ]
  return new Map((await Promise.all(read)).flat())
}

/** A file, or all manifests of a directory. */
async function readLocal(
  { readFile, listDirectory }: World,
  clusterFile: string,
  name: string,
): Promise<Source[]> {
  const path = join(dirname(clusterFile), name)
  try {
    return [[name, await readFile(path)]]
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    if (!hasCode(error, 'EISDIR')) throw error
  }
  const members = (await listDirectory(path)).filter((member) => isManifest.test(member))
  return Promise.all(
    members.map(async (member): Promise<Source> => [join(name, member), await readFile(join(path, member))]),
  )
}

async function readRemote(
  { fetcher, signal }: World,
  addon: string,
  { url, sha256 }: OwnAddon['urls'][number],
): Promise<Source> {
  const text = await fetcher.text(url, largest, signal)
  const found = createHash('sha256').update(text).digest('hex')
  if (found === sha256) return [url, text]
  throw new HyperkubeError(
    'ADDON_SOURCE_CHANGED',
    `addon ${addon}: what is at ${url} has the sha256 ${found}`,
    {
      hint: 'read what is there now; if it is what you want, write that digest into cluster.yml',
    },
  )
}
