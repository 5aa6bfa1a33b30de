import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { digestRecipe, ensureCached } from '../cache.ts'
import type { BuiltPart } from './build.ts'
import { type Part, selectParts } from './parts.ts'
import { compareVersions, toMinor } from './versions.ts'

/**
 * A `boolean` flag accepts only true or false. Types of other flags are not distinguished, because programs
 * do not print them reliably.
 */
export type FlagKind = 'boolean' | 'value'

/** Kind of each flag, by program name and flag name without dashes. */
export type PartFlags = ReadonlyMap<string, ReadonlyMap<string, FlagKind>>

/**
 * Programs whose flags the catalog stores, by part. Each program has a list of hidden flags, which it accepts
 * but does not print in its help. Hidden flags come from the program's sources. They are tested like all
 * other flags, so a flag that a version no longer accepts is not stored.
 */
const hiddenFlags: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  kubernetes: {
    'kube-apiserver': [
      'apiserver-count',
      'audit-webhook-batch-initial-backoff',
      'cloud-config',
      'cloud-provider',
      'default-watch-cache-size',
      'kubelet-port',
      'kubelet-read-only-port',
    ],
    'kube-controller-manager': ['allow-untagged-cloud', 'node-sync-period'],
    'kube-scheduler': [],
    kubelet: [],
    'kube-proxy': ['healthz-port', 'metrics-port'],
  },
  etcd: {
    // Flags of etcd 0.4, which etcd still accepts and ignores.
    etcd: [
      'cluster-active-size',
      'cluster-remove-delay',
      'cluster-sync-interval',
      'config',
      // etcd 3.5 accepts this flag but does not print it. Unlike the other flags here, it does not come from
      // etcd 0.4.
      'experimental-snapshot-catchup-entries',
      'force',
      'max-result-buffer',
      'max-retry-attempts',
      'peer-election-timeout',
      'peer-heartbeat-interval',
      'retry-interval',
      'snapshot',
      'v',
      'vv',
    ],
  },
  flannel: { flanneld: [] },
  'kube-router': { 'kube-router': [] },
}

/** Selects the parts whose flags the catalog stores: the newest patch version of every minor. */
export function selectPartsWithFlags(): readonly Part[] {
  const candidates = selectParts(Object.keys(hiddenFlags)).filter(({ os }) => os === 'linux')
  const minors = Map.groupBy(candidates, ({ name, version }) => `${name} ${toMinor(version)}`)
  return [...minors.values()].flatMap((patches) =>
    patches.toSorted((a, b) => compareVersions(b.version, a.version)).slice(0, 1),
  )
}

const flagsSchema = z.array(
  z.tuple([z.string(), z.array(z.tuple([z.string(), z.enum(['boolean', 'value'])]))]),
)

/**
 * Returns the flags of the programs of an upstream component (part). They are cached, because a program's
 * flags do not change after the build.
 */
export async function readFlags(built: BuiltPart, cache: string): Promise<PartFlags> {
  const name = `${basename(built.directory)}-${digestRecipe(JSON.stringify(hiddenFlags[built.part.name] ?? {}))}`
  const file = 'flags.json'
  const directory = await ensureCached(join(cache, 'flags', name), async (unfinished) => {
    const entries = [...(await queryAllFlags(built))].map(([program, flags]) => [program, [...flags]])
    await writeFile(join(unfinished, file), JSON.stringify(entries))
  })
  const entries = flagsSchema.parse(JSON.parse(await readFile(join(directory, file), 'utf8')))
  return new Map(entries.map(([program, flags]) => [program, new Map(flags)]))
}

/** Queries the flags of all programs of a built part in parallel. */
async function queryAllFlags(built: BuiltPart): Promise<PartFlags> {
  const programs = Object.entries(hiddenFlags[built.part.name] ?? {})
  const all = programs.map(
    async ([name, hidden]) => [name, await programFlags(join(built.directory, name), hidden)] as const,
  )
  return new Map(await settleAll(all))
}

async function programFlags(file: string, hidden: readonly string[]): Promise<Map<string, FlagKind>> {
  const { stdout, stderr } = await runProgram([file, '--help'])
  const flags = new Map<string, FlagKind>()
  for (const flag of [...new Set([...parseHelpFlags(stdout + stderr), ...hidden])].toSorted()) {
    // Each printed flag is tested, because help texts can be wrong: etcd 3.7 prints flags that it refuses.
    const kind = await queryFlag(file, flag)
    if (kind !== undefined) flags.set(flag, kind)
  }
  return flags
}

/** Tests whether a program accepts a flag. `--help` makes the program exit before it does anything else. */
export async function queryFlag(file: string, flag: string): Promise<FlagKind | undefined> {
  return parseFlagKind((await runProgram([file, `--${flag}=`, '--help'], { allowFailure: true })).stderr)
}

/** Extracts the flag names from a help text of pflag, Go's flag package or etcd. */
export function parseHelpFlags(help: string): string[] {
  const names = help.matchAll(/^ {2,6}(?:etcd )?(?:-\w, )?--?([a-z][\w-]*)/gm)
  return [...new Set([...names].map(([, name = '']) => name))]
}

/**
 * Derives the kind of a flag from the error output for an empty value. Undefined if the program does not know
 * the flag. The exit code is useless: flanneld exits with 0 even when it refuses a flag.
 */
export function parseFlagKind(stderr: string): FlagKind | undefined {
  if (/unknown flag: |flag provided but not defined: /.test(stderr)) return undefined
  return /strconv\.ParseBool|invalid boolean value/.test(stderr) ? 'boolean' : 'value'
}
