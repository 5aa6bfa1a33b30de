import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Document, parseDocument } from 'yaml'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { ApiLoad, type LoadFigures } from './api-load.ts'
import { recordDryRun } from './dry-run.ts'
import { components } from './heal-row.ts'
import { parseKubeconfig } from './kubeconfig.ts'
import { LoadProcess } from './load-process.ts'
import { waitForRequests } from './proxied-api.ts'
import type { UpCluster } from './up-cluster.ts'

/** Restart of a service. Times are microseconds of the monotonic clock, which all hosts of a lab share. */
export interface Restart {
  readonly host: string
  readonly service: string
  /** Times at which the service began to stop and was active again. */
  readonly stoppingAt: number
  readonly activeAt: number
}

export interface RollingChange {
  /** Output of `up`. */
  readonly up: CommandResult
  /** Figures of the load through the proxy of a worker. */
  readonly figures: LoadFigures
  /** Restarts in the order of their times. */
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
  const credentials = parseKubeconfig((await hyperkube('kubeconfig')).stdout)
  await prepareLoad(hosts, credentials)

  const before = await readServiceTimes(hosts)
  const load = new LoadProcess(worker, { host: '127.0.0.1', port: 6444, credentials }, perSecond)
  const up = await (async (): Promise<CommandResult> => {
    await waitForRequests(load, 3 * perSecond)
    await editYaml(join(directory, 'cluster.yml'), change)
    const dryRun = await recordDryRun(cluster, hosts, ['up'])
    const result = await hyperkube('up', '--yes')
    await dryRun.expectDone()
    await waitForRequests(load, 3 * perSecond)
    return result
  })().catch(async (error: unknown) => {
    await load.stop()
    throw error
  })
  const figures = await load.stop()
  process.stderr.write(`rolling change: ${JSON.stringify(figures)}\n`)
  return { up, figures, restarts: findRestarts(before, await readServiceTimes(hosts)) }
}

/** Lists restarts that began before an earlier restart was complete. */
export function findOverlaps(restarts: readonly Restart[]): Restart[] {
  return restarts.filter(({ stoppingAt }, index) =>
    restarts.slice(0, index).some(({ activeAt }) => stoppingAt < activeAt),
  )
}

async function prepareLoad(
  hosts: readonly Host[],
  credentials: ReturnType<typeof parseKubeconfig>,
): Promise<void> {
  const api = new KubeApi(`https://${hosts[0]?.address}:6443`, credentials)
  try {
    await ApiLoad.prepare(api)
  } finally {
    api.close()
  }
}

async function editYaml(file: string, change: (document: Document) => void): Promise<void> {
  const document = parseDocument(await readFile(file, 'utf8'))
  change(document)
  await writeFile(file, document.toString())
}

const services = [...components, 'apiserver-proxy', 'hyperkube-agent']

export interface ServiceTime extends Restart {
  readonly started: string
}

/** Reads when each service was last started and stopped, for `findRestarts`. */
export async function readServiceTimes(hosts: readonly Host[]): Promise<readonly ServiceTime[]> {
  const times = await settleAll(hosts.map(async (host) => readHostTimes(host)))
  return times.flat()
}

async function readHostTimes(host: Host): Promise<ServiceTime[]> {
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
      const [started = '', stoppingAt = '', activeAt = ''] = properties.map((name) => values.get(name))
      const service = (values.get('Id') ?? '').replace(/\.service$/, '')
      return { host: host.name, service, started, stoppingAt: Number(stoppingAt), activeAt: Number(activeAt) }
    })
}

export function findRestarts(before: readonly ServiceTime[], after: readonly ServiceTime[]): Restart[] {
  return after
    .filter(({ started }, index) => started !== before[index]?.started)
    .map(({ host, service, stoppingAt, activeAt }) => ({ host, service, stoppingAt, activeAt }))
    .toSorted((a, b) => a.stoppingAt - b.stoppingAt)
}
