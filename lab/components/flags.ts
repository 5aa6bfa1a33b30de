import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { run } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { keep, recipeDigest } from '../cache.ts'
import type { BuiltPart } from './build.ts'

/** A boolean takes true or false only. What any other takes, a program does not say for certain. */
export type FlagKind = 'boolean' | 'value'

/** The flags of each program of a part, by name without dashes. */
export type PartFlags = ReadonlyMap<string, ReadonlyMap<string, FlagKind>>

/**
 * The programs whose flags the catalog wants to know, by part; and of each the flags that it takes but does not show,
 * as its sources have them. They are asked for like all others, so that one that is gone is not claimed.
 */
const asked: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  kubernetes: {
    'kube-apiserver': [
      'apiserver-count',
      'audit-webhook-batch-initial-backoff',
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
    // Of etcd 0.4: it takes them still, and ignores them.
    etcd: [
      'cluster-active-size',
      'cluster-remove-delay',
      'cluster-sync-interval',
      'config',
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
}

export const partsWithFlags: readonly string[] = Object.keys(asked)

const answers = z.array(z.tuple([z.string(), z.array(z.tuple([z.string(), z.enum(['boolean', 'value'])]))]))

/** The flags of a built part. A program is asked once in its life: what it takes does not change. */
export async function flagsOf(built: BuiltPart, cache: string): Promise<PartFlags> {
  const name = `${basename(built.directory)}-${recipeDigest(JSON.stringify(asked[built.part.name] ?? {}))}`
  const file = 'flags.json'
  const directory = await keep(join(cache, 'flags', name), async (unfinished) => {
    const told = [...(await askAll(built))].map(([program, flags]) => [program, [...flags]])
    await writeFile(join(unfinished, file), JSON.stringify(told))
  })
  const told = answers.parse(JSON.parse(await readFile(join(directory, file), 'utf8')))
  return new Map(told.map(([program, flags]) => [program, new Map(flags)]))
}

/** Asks the programs of a built part for their flags, all programs side by side. */
async function askAll(built: BuiltPart): Promise<PartFlags> {
  const programs = Object.entries(asked[built.part.name] ?? {})
  const all = programs.map(
    async ([name, unshown]) => [name, await programFlags(join(built.directory, name), unshown)] as const,
  )
  return new Map(await settleAll(all))
}

async function programFlags(file: string, unshown: readonly string[]): Promise<Map<string, FlagKind>> {
  const { stdout, stderr } = await run([file, '--help'])
  const flags = new Map<string, FlagKind>()
  for (const flag of [...new Set([...shownFlags(stdout + stderr), ...unshown])].toSorted()) {
    // Help texts err: etcd 3.7 shows flags that it refuses.
    const kind = await askFor(file, flag)
    if (kind !== undefined) flags.set(flag, kind)
  }
  return flags
}

/** Asks a program for one flag; --help ends it before it does anything. */
export async function askFor(file: string, flag: string): Promise<FlagKind | undefined> {
  return kindOf((await run([file, `--${flag}=`, '--help'], { allowFailure: true })).stderr)
}

/** The flags that a help text shows, in the styles of pflag, of Go's own package and of etcd. */
export function shownFlags(help: string): string[] {
  const names = help.matchAll(/^ {2,6}(?:etcd )?(?:-\w, )?--?([a-z][\w-]*)/gm)
  return [...new Set([...names].map(([, name = '']) => name))]
}

/**
 * What a program says to a flag with an empty value, read: nothing when it does not know the flag. Its exit code tells
 * nothing: flanneld ends with 0 also when it refuses a flag.
 */
export function kindOf(stderr: string): FlagKind | undefined {
  if (/unknown flag: |flag provided but not defined: /.test(stderr)) return undefined
  return /strconv\.ParseBool|invalid boolean value/.test(stderr) ? 'boolean' : 'value'
}
