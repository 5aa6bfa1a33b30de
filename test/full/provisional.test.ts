import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { ApiLoad } from '../support/api-load.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { LoadProcess } from '../support/load-process.ts'
import { waitForRequests } from '../support/proxied-api.ts'
import { findOverlaps, findRestarts, readServiceTimes } from '../support/rolling-change.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

/**
 * Flags of the shortest provisional change. The rollback interval leaves time for restarts of an API server
 * and a kubelet on a busy machine.
 */
const provisionalFlags = ['--provisional', '1m', '--rollback-interval', '45s'] as const
/**
 * Timeout for the rollback: one minute until the provisional change expires, one minute for the operator to
 * return, four rollback intervals, and the restarts.
 */
const rollbackTimeoutMs = 600_000
const perSecond = 20
const stateFile = '/var/lib/hyperkube/agent/provisional.json'

const statusSchema = z.object({
  hosts: z.array(
    z.looseObject({ host: z.string(), provisional: z.looseObject({ state: z.string() }).optional() }),
  ),
})
const nodeList = z.object({
  items: z.array(
    z.object({
      status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
    }),
  ),
})

/** Tests provisional changes to a running cluster, which an operator confirms or the hosts roll back. */
function provisionalSuite(clusterNow: () => UpCluster): void {
  const runCommand = async (code: number, ...args: readonly string[]) =>
    clusterNow().operator.must(code, ...args)
  const setMaxPods = async (amount: number): Promise<void> =>
    clusterNow().operator.edit((document) =>
      document.setIn(['spec', 'components', 'kubelet', 'maxPods'], amount),
    )
  /** Reads the maxPods setting of the kubelet on each host. */
  const readMaxPods = async (): Promise<string[]> =>
    settleAll(
      clusterNow().hosts.map(async (host) => {
        const { stdout } = await host.script('grep -o "maxPods: [0-9]*" /etc/hyperkube/kubelet/config.yaml')
        return `${host.name} ${stdout.trim()}`
      }),
    )
  const listExpected = (amount: number): string[] =>
    clusterNow().hosts.map(({ name }) => `${name} maxPods: ${amount}`)
  const readStates = async (): Promise<(string | undefined)[]> => {
    const { stdout } = await clusterNow().hyperkube('status', '-o', 'json')
    return statusSchema.parse(JSON.parse(stdout)).hosts.map(({ provisional }) => provisional?.state)
  }
  const waitForRollback = async (): Promise<void> => {
    await pollUntil(
      'all hosts to roll back',
      async () => (await readStates()).every((state) => state === 'rolled-back'),
      { timeoutMs: rollbackTimeoutMs, intervalMs: 5000 },
    )
  }

  test(
    'a change that cannot be provisional is refused, and no host is changed',
    { timeout: 300_000 },
    async () => {
      const { operator, hosts } = clusterNow()
      const expectRefused = async (code: string): Promise<void> => {
        const { stderr } = await runCommand(1, 'up', '--yes', ...provisionalFlags)
        expect(stderr).toContain(code)
      }
      await operator.edit((document) => document.setIn(['spec', 'hosts', 3, 'labels'], { changed: 'yes' }))
      await expectRefused('PROVISIONAL_CLUSTER_OBJECTS')
      await operator.edit((document) => document.deleteIn(['spec', 'hosts', 3, 'labels']))
      const removed: unknown[] = []
      await operator.edit((document) => {
        removed.push(document.getIn(['spec', 'hosts', 3]))
        document.deleteIn(['spec', 'hosts', 3])
      })
      await expectRefused('PROVISIONAL_HOSTS')
      await operator.edit((document) => document.addIn(['spec', 'hosts'], removed[0]))
      for (const host of hosts) await host.script(`test ! -e ${stateFile}`)
      await runCommand(0, 'up', '--dry-run')
    },
  )

  test('a confirmed change is kept', { timeout: 600_000 }, async () => {
    await setMaxPods(100)
    const { stdout } = await runCommand(0, 'up', '--yes', ...provisionalFlags)
    expect(stdout).toContain('to keep the change: hyperkube provisional confirm')
    expect(new Set(await readStates())).toEqual(new Set(['provisional']))
    expect((await runCommand(1, 'up', '--yes')).stderr).toContain('PROVISIONAL_PENDING')
    expect((await runCommand(0, 'plan')).stderr).toContain('PROVISIONAL_PENDING')
    await runCommand(0, 'provisional', 'confirm')
    expect(new Set(await readStates())).toEqual(new Set([undefined]))
    for (const host of clusterNow().hosts) await host.script(`test ! -e ${stateFile}`)
    expect(await readMaxPods()).toEqual(listExpected(100))
    await runCommand(0, 'up', '--dry-run')
  })

  test(
    'an unconfirmed change is rolled back, one host after the other, and no request fails',
    { timeout: 1_800_000 },
    async () => {
      const cluster = clusterNow()
      await setMaxPods(90)
      await cluster.operator.edit((document) =>
        document.setIn(['spec', 'components', 'apiServer', 'args'], { 'event-ttl': '2h' }),
      )
      await runCommand(0, 'up', '--yes', ...provisionalFlags)
      expect(await readMaxPods()).toEqual(listExpected(90))
      const before = await readServiceTimes(cluster.hosts)
      const load = await startLoad(cluster)
      try {
        await waitForRollback()
        await waitForRequests(load, 3 * perSecond)
      } catch (error) {
        await load.stop()
        throw error
      }
      const figures = await load.stop()
      process.stderr.write(`rollback: ${JSON.stringify(figures)}\n`)
      expect(figures.failed).toEqual([])
      expect(await readMaxPods()).toEqual(listExpected(100))
      const restarts = findRestarts(before, await readServiceTimes(cluster.hosts))
      expect([...new Set(restarts.map(({ host }) => host))]).toEqual(['cp3', 'cp2', 'cp1', 'w1'])
      expect(new Set(restarts.map(({ service }) => service))).toEqual(new Set(['kube-apiserver', 'kubelet']))
      expect(findOverlaps(restarts)).toEqual([])
      await waitForReadyNodes(cluster)
      // cluster.yml still contains the change, and the hosts report why they rolled back.
      expect((await runCommand(3, 'plan')).stdout).toContain('restarts kube-apiserver, kubelet')
      expect((await runCommand(0, 'status')).stdout).toContain('was not confirmed by')
      for (const host of cluster.hosts)
        await host.script(
          'grep -q "roll back: the provisional change ended" /var/lib/hyperkube/agent/journal.ndjson',
        )
      expect((await runCommand(1, 'provisional', 'confirm')).stderr).toContain('PROVISIONAL_ENDED')
    },
  )

  test('all hosts roll back after a killed command and a power cut', { timeout: 1_800_000 }, async () => {
    const cluster = clusterNow()
    const command = cluster.operator.startUp(
      ({ body, host }) => {
        if (body.type === 'step-ended' && body.step.startsWith('api/') && host !== undefined)
          command.kill('SIGKILL')
      },
      ...provisionalFlags,
    )
    expect((await command.ended).code).toBe(137)
    const worker = await cluster.lab.host('w1')
    await worker.powerCut()
    await cluster.lab.start('w1')
    await waitForRollback()
    expect(await readMaxPods()).toEqual(listExpected(100))
    for (const host of cluster.hosts) await host.script('! pgrep --full --list-full -- --event-ttl=2h')
    await waitForReadyNodes(cluster)
    // A later `up` applies the interrupted change.
    await runCommand(0, 'up', '--yes')
    expect(await readMaxPods()).toEqual(listExpected(90))
    expect(new Set(await readStates())).toEqual(new Set([undefined]))
  })
}

async function startLoad(cluster: UpCluster): Promise<LoadProcess> {
  const worker = cluster.hosts.find(({ name }) => name.startsWith('w'))
  if (worker === undefined) throw new Error('there is no worker')
  const credentials = parseKubeconfig((await cluster.hyperkube('kubeconfig')).stdout)
  const api = new KubeApi(`https://${cluster.hosts[0]?.address}:6443`, credentials)
  try {
    await ApiLoad.prepare(api)
  } finally {
    api.close()
  }
  const load = new LoadProcess(worker, { host: '127.0.0.1', port: 6444, credentials }, perSecond)
  await waitForRequests(load, 3 * perSecond)
  return load
}

async function waitForReadyNodes({ api }: UpCluster): Promise<void> {
  await pollUntil(
    'all nodes to be ready',
    async () => {
      const { items } = nodeList.parse(await api.get('/api/v1/nodes'))
      return items.every(({ status: { conditions } }) =>
        conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
      )
    },
    { timeoutMs: 120_000, intervalMs: 1000 },
  )
}

describe('provisional changes', () => {
  provisionalSuite(setUpCluster('provisional', '3+1', '1.37.1', { survivesPowerCut: true }))
})
