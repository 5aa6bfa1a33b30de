import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { type Document, parseDocument, stringify } from 'yaml'
import { selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Machine } from '../../lab/hosts/machine.ts'
import { clusterDocument, type DocumentOptions } from '../../lab/hyperkube/cluster-document.ts'
import type { Event } from '../../src/contract/event.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import { privateFiles } from '../../src/identity/private-files.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { readIdentity, readKeyFile } from '../../src/identity/store.ts'
import { type CommandResult, run } from '../../src/kit/command.ts'
import { type PlanDocument, planFormat } from '../../src/lifecycle/plan-document.ts'
import { labMirror } from './lab-mirror.ts'
import { type ToldCommand, toldCommand } from './event-command.ts'

/** A person with the shipped executable, a cluster.yml, its identity and its lock; nothing is done to any host yet. */
export interface Operator {
  readonly hosts: readonly Machine[]
  /** Where cluster.yml and what belongs to it are. */
  readonly directory: string
  readonly hyperkube: (...words: readonly string[]) => Promise<CommandResult>
  /** Fails unless it ends with this code. */
  must(code: number, ...words: readonly string[]): Promise<CommandResult>
  /** Begins a command, which can be interrupted. */
  begin(...words: readonly string[]): ToldCommand
  /** Begins `up`, and hears its events. */
  beginUp(heard: (event: Event) => void, ...words: readonly string[]): ToldCommand
  /** What `plan` says while there is something to do; it is kept in a file for `up`. */
  plan(): Promise<PlanDocument>
  readonly planFile: string
  /** Changes cluster.yml. */
  readonly edit: (change: (document: Document) => void) => Promise<void>
  /** With the keys of all hosts that were met so far. */
  readonly identity: () => Promise<Identity>
  close(): Promise<void>
}

export interface OperatorOptions extends DocumentOptions {
  /** Parts that the mirror has beside the usual ones, and before them. */
  readonly parts?: readonly string[]
}

export async function newOperator(
  lab: Lab,
  hosts: readonly Machine[],
  kubernetes: string,
  { parts = [], ...options }: OperatorOptions = {},
): Promise<Operator> {
  const mirror = await labMirror(lab, {
    parts: [...(parts.length === 0 ? [] : selectParts(parts)), ...selectParts()],
  })
  const directory = await mkdtemp(join(tmpdir(), 'up-'))
  const file = join(directory, 'cluster.yml')
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
  const close = async (): Promise<void> => {
    await mirror.close()
    await rm(directory, { recursive: true, force: true })
  }
  const planFile = join(directory, 'cluster.plan')
  try {
    const program = inject('executable')
    const hyperkube: Operator['hyperkube'] = async (...words) =>
      run([program, ...words, '-f', file], { env, allowFailure: true })
    const must: Operator['must'] = async (code, ...words) => {
      const result = await hyperkube(...words)
      if (result.code === code) return result
      throw new Error(`${words.join(' ')} ended with ${result.code}: ${result.stderr}${result.stdout}`)
    }
    await writeFile(file, stringify(clusterDocument(kubernetes, mirror.address, hosts, options)))
    await must(0, 'init')
    await must(0, 'lock')
    return {
      hosts,
      directory,
      planFile,
      hyperkube,
      must,
      begin: (...words) => toldCommand([program, ...words, '-f', file], env, () => undefined),
      beginUp: (heard, ...words) =>
        toldCommand([program, 'up', '--yes', '--progress', 'json', ...words, '-f', file], env, heard),
      async plan() {
        await must(3, 'plan', '--out', planFile)
        return readVersioned(planFormat, JSON.parse(await readFile(planFile, 'utf8')))
      },
      async edit(change) {
        const document = parseDocument(await readFile(file, 'utf8'))
        change(document)
        await writeFile(file, document.toString())
      },
      async identity() {
        const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/lab.key'))
        return readIdentity(privateFiles(), join(directory, 'cluster.identity'), key)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
