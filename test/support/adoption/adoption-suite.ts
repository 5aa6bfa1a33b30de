import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { KubeApi } from '../../../lab/cluster/kube-api.ts'
import type { CommandResult } from '../../../src/kit/command.ts'
import { compareStates, type HostState, readStates } from '../host-states.ts'
import { type AdoptedCluster, type Contender, type ContenderName, contenderNames } from './contender.ts'
import { kubeadmContender } from './kubeadm-contender.ts'
import { rke1CanalContender, rke1Contender } from './rke1-contender.ts'

const contenders: Readonly<Record<ContenderName, Contender>> = {
  kubeadm: kubeadmContender,
  rke1: rke1Contender,
  'rke1-canal': rke1CanalContender,
}

export function selectContender(name: string): Contender {
  const found = contenderNames.find((one) => one === name)
  if (found === undefined) throw new Error(`ADOPT_FROM is ${name}, not one of ${contenderNames.join(', ')}`)
  return contenders[found]
}

/** Contender and shape of a suite, from the environment. */
export function readSuiteOptions(defaultShape = '3+2'): {
  readonly contender: Contender
  readonly shape: string
} {
  return {
    contender: selectContender(process.env['ADOPT_FROM'] ?? 'rke1'),
    shape: process.env['ADOPT_SHAPE'] ?? defaultShape,
  }
}

/** Runs a command on the cluster and expects its exit code. */
export async function runCommand(
  cluster: AdoptedCluster,
  code: number,
  ...args: readonly string[]
): Promise<CommandResult> {
  const result = await cluster.hyperkube(...args, '-f', cluster.path('cluster.yml'))
  expect(result.code, `${args.join(' ')}: ${result.stdout}${result.stderr}`).toBe(code)
  return result
}

/** Adopts the cluster, and writes the lock. */
export async function adoptCluster(cluster: AdoptedCluster): Promise<void> {
  for (const run of [cluster.adopt, cluster.lock]) {
    const { code, stdout, stderr } = await run()
    expect(code, stdout + stderr).toBe(0)
  }
}

/** Expects that these hosts run what hyperkube installed. */
export async function expectMoved(cluster: AdoptedCluster, names: readonly string[]): Promise<void> {
  const { movedScript, movedOutput } = cluster.contender
  for (const host of cluster.hosts.filter(({ name }) => names.includes(name))) {
    const { stdout } = await host.script(movedScript, { allowFailure: true })
    expect(stdout, host.name).toBe(movedOutput)
  }
}

/** State of all hosts before hyperkube. */
export interface HostsBefore {
  readonly states: ReadonlyMap<string, HostState>
  readonly containers: ReadonlyMap<string, HostState>
}

export async function readHosts(cluster: AdoptedCluster): Promise<HostsBefore> {
  return {
    states: await readStates(cluster.hosts, cluster.contender.states),
    containers: await cluster.inspectContainers(),
  }
}

/** Lists what differs on hosts, apart from what the page names as not compared. */
export async function compareHosts(cluster: AdoptedCluster, before: HostsBefore): Promise<readonly string[]> {
  const after = await readHosts(cluster)
  return [
    ...compareStates(before.states, after.states),
    ...compareStates(before.containers, after.containers),
  ].filter((line) => !cluster.contender.ignored.test(line))
}

export const hostComparison = `files in /etc, /opt, /usr/local, /root and /home by their digests; all paths with owners and modes; users; systemd units; and the programs of
components with their arguments`

export const containerComparison = `the output of \`docker inspect\` for the containers of RKE1, apart from their process ids, times, numbers of restarts, the names of their network, and lists
that Docker prints as null or as empty`

/** Reads the id of the cluster, which is that of a namespace. */
export async function readClusterId(api: KubeApi): Promise<string> {
  return (await api.get<{ metadata: { uid: string } }>('/api/v1/namespaces/kube-system')).metadata.uid
}

/** Writes a page of docs/evidence. */
export async function writeEvidence(page: string, text: string): Promise<void> {
  await writeFile(join(import.meta.dirname, '../../../docs/evidence', `${page}.md`), text)
}

/** Name of the page of a suite, for one contender and shape. */
export function formatPageName(suite: string, { name }: Contender, shape: string): string {
  return `${suite}-${name}-${shape.replace('+', '-')}`
}

export function formatDate(): string {
  return new Date().toISOString().slice(0, 10)
}

/** Page of the move and the rollback. Links in the documentation name these pages. */
export function formatMovePage({ name }: Contender, shape: string): string {
  if (name === 'kubeadm') return `adopt-move-${shape.replace('+', '-')}`
  return shape === '1+1' ? 'adopt-rke' : `adopt-rke-${shape.replace('+', '-')}`
}
