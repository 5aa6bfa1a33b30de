import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Document, parseDocument } from 'yaml'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { ApiLoad, type LoadFigures } from './api-load.ts'
import { foresee } from './dry-run.ts'
import { credentialsIn } from './kubeconfig.ts'
import { LoadProcess } from './load-process.ts'
import { more } from './proxied-api.ts'
import type { UpCluster } from './up-cluster.ts'
import { components } from './heal-row.ts'

/** A service that began anew. Times are of the machine's clock, which all hosts of a lab share, in microseconds. */
export interface Restart {
  readonly host: string
  readonly service: string
  /** From when on it was on its way out, and when it was back. */
  readonly left: number
  readonly back: number
}

export interface RollingChange {
  /** What `up` said. */
  readonly up: CommandResult
  /** What clients saw through the proxy of a worker. */
  readonly figures: LoadFigures
  /** In the order in which they happened. */
  readonly restarts: readonly Restart[]
}

/** Changes cluster.yml and runs `up`, under load on the API through the proxy of a worker. */
export async function changeUnderLoad(
  cluster: Pick<UpCluster, 'hosts' | 'directory' | 'hyperkube'>,
  perSecond: number,
  change: (document: Document) => void,
): Promise<RollingChange> {
  const { hosts, directory, hyperkube } = cluster
  const worker = hosts.find(({ name }) => name.startsWith('w'))
  if (worker === undefined) throw new Error('there is no worker')
  const credentials = credentialsIn((await hyperkube('kubeconfig')).stdout)
  await prepare(hosts, credentials)

  const before = await serviceTimes(hosts)
  const load = new LoadProcess(worker, { host: '127.0.0.1', port: 6444, credentials }, perSecond)
  const up = await (async (): Promise<CommandResult> => {
    await more(load, 3 * perSecond)
    await edit(join(directory, 'cluster.yml'), change)
    const foresight = await foresee(cluster, hosts, ['up'])
    const result = await hyperkube('up', '--yes')
    await foresight.kept()
    await more(load, 3 * perSecond)
    return result
  })().catch(async (error: unknown) => {
    await load.stop()
    throw error
  })
  const figures = await load.stop()
  process.stderr.write(`rolling change: ${JSON.stringify(figures)}\n`)
  return { up, figures, restarts: restartsBetween(before, await serviceTimes(hosts)) }
}

/** Those that began before the one before them was back. */
export function overlaps(restarts: readonly Restart[]): Restart[] {
  return restarts.filter(({ left }, index) => restarts.slice(0, index).some(({ back }) => left < back))
}

async function prepare(hosts: readonly Host[], credentials: ReturnType<typeof credentialsIn>): Promise<void> {
  const api = new KubeApi(`https://${hosts[0]?.address}:6443`, credentials)
  try {
    await ApiLoad.prepare(api)
  } finally {
    api.close()
  }
}

async function edit(file: string, change: (document: Document) => void): Promise<void> {
  const document = parseDocument(await readFile(file, 'utf8'))
  change(document)
  await writeFile(file, document.toString())
}

const services = [...components, 'apiserver-proxy', 'hyperkube-agent']

export interface ServiceTime extends Restart {
  readonly started: string
}

/** When each service began, for `restartsBetween`. */
export async function serviceTimes(hosts: readonly Host[]): Promise<readonly ServiceTime[]> {
  const times = await settleAll(hosts.map(async (host) => timesOn(host)))
  return times.flat()
}

async function timesOn(host: Host): Promise<ServiceTime[]> {
  const properties = ['ExecMainStart', 'ActiveExit', 'ActiveEnter'].map((name) => `${name}TimestampMonotonic`)
  const { stdout } = await host.exec([
    'systemctl',
    'show',
    `--property=Id,${properties.join(',')}`,
    ...services,
  ])
  return stdout
    .trim()
    .split('\n\n')
    .map((block) => {
      const values = new Map(
        block.split('\n').map((line) => [line.split('=')[0] ?? '', line.split('=')[1] ?? '']),
      )
      const [started = '', left = '', back = ''] = properties.map((name) => values.get(name))
      const service = (values.get('Id') ?? '').replace(/\.service$/, '')
      return { host: host.name, service, started, left: Number(left), back: Number(back) }
    })
}

export function restartsBetween(before: readonly ServiceTime[], after: readonly ServiceTime[]): Restart[] {
  return after
    .filter(({ started }, index) => started !== before[index]?.started)
    .map(({ host, service, left, back }) => ({ host, service, left, back }))
    .toSorted((a, b) => a.left - b.left)
}
