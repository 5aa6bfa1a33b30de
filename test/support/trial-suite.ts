import { expect, test } from 'vitest'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { ApiLoad } from './api-load.ts'
import { credentialsIn } from './kubeconfig.ts'
import { LoadProcess } from './load-process.ts'
import { more } from './proxied-api.ts'
import { overlaps, restartsBetween, serviceTimes } from './rolling-change.ts'
import type { UpCluster } from './up-cluster.ts'

/** The shortest there is; slots in which an API server and a kubelet restart on a busy machine. */
const brief = ['--trial', '1m', '--trial-slot', '45s'] as const
/** The minute of the trial, the one in which an operator may be heard of once more, four slots, and restarts. */
const patience = 600_000
const perSecond = 20
const memory = '/var/lib/hyperkube/agent/trial.json'

const status = z.object({
  hosts: z.array(z.looseObject({ host: z.string(), trial: z.looseObject({ state: z.string() }).optional() })),
})
const nodes = z.object({
  items: z.array(
    z.object({
      status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
    }),
  ),
})

/** A change of a cluster that lives is tried, and kept or gone back from by the hosts themselves. */
export function trialSuite(clusterNow: () => UpCluster): void {
  const must = async (code: number, ...words: readonly string[]) => clusterNow().operator.must(code, ...words)
  const setMaxPods = async (amount: number): Promise<void> =>
    clusterNow().operator.edit((document) =>
      document.setIn(['spec', 'components', 'kubelet', 'maxPods'], amount),
    )
  /** What kubelets are told, by the names of hosts. */
  const maxPods = async (): Promise<string[]> =>
    settleAll(
      clusterNow().hosts.map(async (host) => {
        const { stdout } = await host.script('grep -o "maxPods: [0-9]*" /etc/hyperkube/kubelet/config.yaml')
        return `${host.name} ${stdout.trim()}`
      }),
    )
  const everywhere = (amount: number): string[] =>
    clusterNow().hosts.map(({ name }) => `${name} maxPods: ${amount}`)
  const states = async (): Promise<(string | undefined)[]> => {
    const { stdout } = await clusterNow().hyperkube('status', '-o', 'json')
    return status.parse(JSON.parse(stdout)).hosts.map(({ trial }) => trial?.state)
  }
  const allBack = async (): Promise<void> => {
    await until(
      'all hosts to go back',
      async () => (await states()).every((state) => state === 'went-back'),
      { within: patience, every: 5000 },
    )
  }

  test('what cannot be tried is refused, and no host hears of it', { timeout: 300_000 }, async () => {
    const { operator, hosts } = clusterNow()
    const refused = async (code: string): Promise<void> => {
      const { stderr } = await must(1, 'up', '--yes', ...brief)
      expect(stderr).toContain(code)
    }
    await operator.edit((document) => document.setIn(['spec', 'hosts', 3, 'labels'], { tried: 'yes' }))
    await refused('TRIAL_INSIDE')
    await operator.edit((document) => document.deleteIn(['spec', 'hosts', 3, 'labels']))
    const removed: unknown[] = []
    await operator.edit((document) => {
      removed.push(document.getIn(['spec', 'hosts', 3]))
      document.deleteIn(['spec', 'hosts', 3])
    })
    await refused('TRIAL_HOSTS')
    await operator.edit((document) => document.addIn(['spec', 'hosts'], removed[0]))
    for (const host of hosts) await host.script(`test ! -e ${memory}`)
    await must(0, 'up', '--dry-run')
  })

  test('a setting that is kept stays', { timeout: 600_000 }, async () => {
    await setMaxPods(100)
    const { stdout } = await must(0, 'up', '--yes', ...brief)
    expect(stdout).toContain('hyperkube trial keep keeps it')
    expect(new Set(await states())).toEqual(new Set(['on-trial']))
    expect((await must(1, 'up', '--yes')).stderr).toContain('TRIAL_UNDER_WAY')
    expect((await must(0, 'plan')).stderr).toContain('TRIAL_UNDER_WAY')
    await must(0, 'trial', 'keep')
    expect(new Set(await states())).toEqual(new Set([undefined]))
    for (const host of clusterNow().hosts) await host.script(`test ! -e ${memory}`)
    expect(await maxPods()).toEqual(everywhere(100))
    await must(0, 'up', '--dry-run')
  })

  test(
    'one that nobody keeps goes back by itself, one host after the other, and nobody notices',
    { timeout: 1_800_000 },
    async () => {
      const cluster = clusterNow()
      await setMaxPods(90)
      await cluster.operator.edit((document) =>
        document.setIn(['spec', 'components', 'apiServer', 'args'], { 'event-ttl': '2h' }),
      )
      await must(0, 'up', '--yes', ...brief)
      expect(await maxPods()).toEqual(everywhere(90))
      const before = await serviceTimes(cluster.hosts)
      const load = await loadOn(cluster)
      try {
        await allBack()
        await more(load, 3 * perSecond)
      } catch (error) {
        await load.stop()
        throw error
      }
      const figures = await load.stop()
      process.stderr.write(`going back: ${JSON.stringify(figures)}\n`)
      expect(figures.failed).toEqual([])
      expect(await maxPods()).toEqual(everywhere(100))
      const restarts = restartsBetween(before, await serviceTimes(cluster.hosts))
      expect([...new Set(restarts.map(({ host }) => host))]).toEqual(['cp3', 'cp2', 'cp1', 'w1'])
      expect(new Set(restarts.map(({ service }) => service))).toEqual(new Set(['kube-apiserver', 'kubelet']))
      expect(overlaps(restarts)).toEqual([])
      await ready(cluster)
      // It is what cluster.yml still says, and the hosts know why they have it no more.
      expect((await must(3, 'plan')).stdout).toContain('restarts kube-apiserver, kubelet')
      expect((await must(0, 'status')).stdout).toContain('and was not kept')
      for (const host of cluster.hosts)
        await host.script('grep -q "go back: the trial ended" /var/lib/hyperkube/agent/journal.ndjson')
      expect((await must(1, 'trial', 'keep')).stderr).toContain('TRIAL_OVER')
    },
  )

  test(
    'whoever is killed in the middle, and whichever host loses its power: all go back',
    { timeout: 1_800_000 },
    async () => {
      const cluster = clusterNow()
      const command = cluster.operator.beginUp(
        ({ what, host }) => {
          if (what.type === 'step-ended' && what.step.startsWith('api/') && host !== undefined)
            command.kill('SIGKILL')
        },
        ...brief,
      )
      expect((await command.ended).code).toBe(137)
      const worker = await cluster.lab.host('w1')
      await worker.powerCut()
      await cluster.lab.start('w1')
      await allBack()
      expect(await maxPods()).toEqual(everywhere(100))
      for (const host of cluster.hosts) await host.script('! pgrep --full --list-full -- --event-ttl=2h')
      await ready(cluster)
      // And what was cut can be had after all.
      await must(0, 'up', '--yes')
      expect(await maxPods()).toEqual(everywhere(90))
      expect(new Set(await states())).toEqual(new Set([undefined]))
    },
  )
}

async function loadOn(cluster: UpCluster): Promise<LoadProcess> {
  const worker = cluster.hosts.find(({ name }) => name.startsWith('w'))
  if (worker === undefined) throw new Error('there is no worker')
  const credentials = credentialsIn((await cluster.hyperkube('kubeconfig')).stdout)
  const api = new KubeApi(`https://${cluster.hosts[0]?.address}:6443`, credentials)
  try {
    await ApiLoad.prepare(api)
  } finally {
    api.close()
  }
  const load = new LoadProcess(worker, { host: '127.0.0.1', port: 6444, credentials }, perSecond)
  await more(load, 3 * perSecond)
  return load
}

async function ready({ api }: UpCluster): Promise<void> {
  await until(
    'all nodes to be ready',
    async () => {
      const { items } = nodes.parse(await api.get('/api/v1/nodes'))
      return items.every(({ status: { conditions } }) =>
        conditions.some((one) => one.type === 'Ready' && one.status === 'True'),
      )
    },
    { within: 120_000, every: 1000 },
  )
}
