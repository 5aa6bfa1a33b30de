import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hostStatus } from '../../src/contract/host-resource.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { servingSigner } from '../../src/pki/check-serving-request.ts'
import { etcdctl } from '../support/etcdctl.ts'
import { type Kubectl, kubectlOf } from '../support/kubectl.ts'
import { noteManager } from '../support/manager-evidence.ts'
import { controlPlanesOf, managerFigures } from '../support/manager-hosts.ts'
import { askForRogues } from '../support/rogue-requests.ts'
import { answerIn, signingRequests } from '../support/signing-requests.ts'
import { suiteCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const minute = 60_000

/** Controllers for which something has to be wrong before they do anything. */
describe('controllers of a cluster', () => {
  const clusterNow = suiteCluster('controllers', '3+1', '1.37.1', {
    prepare: async ({ edit }) =>
      edit((document) => {
        document.setIn(['spec', 'addons'], [hello])
        document.setIn(['spec', 'etcd', 'snapshots', 'schedule'], '* * * * *')
      }),
  })

  test('a kubelet that is too old for its API server is told of', { timeout: 3 * minute }, async () => {
    await using kubectl = await kubectlOf(clusterNow(), 'v1.37.1')
    await clusterNow().api.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'old' },
    })
    await putStatus(kubectl, 'node', 'old', { nodeInfo: { ...info, kubeletVersion: 'v1.30.0' } })
    const note = await until('an event', async () => eventOf(clusterNow(), 'VersionSkew'), { within: minute })
    await kubectl.run('delete', 'node', 'old')
    expect(note).toContain('kubelet v1.30.0 is more than three minor versions behind')
    await noteManager('a node whose kubelet is too old', 'told of in an event')
  })

  test(
    'certificates that their agent should have renewed are told of, and asked for',
    { timeout: 3 * minute },
    async () => {
      await using kubectl = await kubectlOf(clusterNow(), 'v1.37.1')
      const day = 24 * 60 * minute
      const at = (time: number): string => new Date(Date.now() + time).toISOString()
      const certificate = {
        component: 'kubelet',
        file: '/some.crt',
        renewAfter: at(-20 * day),
        notAfter: at(10 * day),
      }
      // Nobody answers for it: agents of real hosts renew in time.
      await clusterNow().api.create('/apis/hyperkube.dev/v1/hosts', {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'Host',
        metadata: { name: 'late' },
        spec: {},
      })
      await putStatus(kubectl, 'host', 'late', { agent: '0', heartbeat: at(0), certificates: [certificate] })
      const { spec, status } = await until(
        'it to be asked',
        async () => {
          const found = host.parse(await clusterNow().api.get('/apis/hyperkube.dev/v1/hosts/late'))
          return (found.spec.requests ?? []).length > 0 && found
        },
        { within: minute },
      )
      await kubectl.run('delete', 'host', 'late')
      expect(spec.requests).toMatchObject([{ ask: { type: 'renew-certificates' } }])
      expect(status?.conditions).toMatchObject([
        { type: 'CertificatesCurrent', status: 'False', reason: 'Overdue' },
      ])
      await noteManager(
        'certificates that should have been renewed',
        'told of at their host, whose agent is asked to renew them',
      )
    },
  )

  test(
    'the cluster is brought back to a database that a host has kept by itself',
    { timeout: 10 * minute },
    async () => {
      const { api, operator } = clusterNow()
      const maps = '/api/v1/namespaces/default/configmaps'
      await api.create(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'dear' } })
      const due = new Date(Math.ceil(Date.now() / minute) * minute).toISOString().slice(0, 19)
      const file = `etcd-${due.replaceAll(':', '-')}Z.db`
      const holder = await until(
        'a host to have kept its database',
        async () =>
          (await statuses(clusterNow())).find(({ snapshots = [] }) =>
            snapshots.some((one) => one.name === file),
          )?.name,
        { within: 3 * minute, every: 1000 },
      )
      await operator.edit((document) => document.deleteIn(['spec', 'etcd', 'snapshots']))
      await operator.must(0, 'up', '--yes')
      await api.remove(`${maps}/dear`)
      const fetched = await operator.must(0, 'etcd', 'snapshot', 'fetch', `${holder}:${file}`, '-o', 'json')
      const { name, keys } = z
        .object({ name: z.string(), keys: z.number() })
        .parse(JSON.parse(fetched.stdout))
      await operator.must(0, 'etcd', 'snapshot', 'verify', name)
      await operator.must(0, 'etcd', 'snapshot', 'restore', name, '--yes')
      expect(await api.get(`${maps}/dear`)).toMatchObject({ metadata: { name: 'dear' } })
      await operator.must(0, 'status')
      await noteManager(
        'what was deleted comes back',
        `from a database that ${holder} had kept by itself, fetched over ssh: ${keys} keys, verified and restored`,
      )
    },
  )

  test('a thousand rogue requests of kubelets: none is approved', { timeout: 6 * minute }, async () => {
    const seed = Math.trunc(Math.random() * 2 ** 31)
    const taken = await askForRogues(clusterNow(), rogues, seed)
    const answers = await until(
      'all that are for the signer of kubelets, of hosts that are known, to be answered',
      async () => {
        const { items } = signingList.parse(await clusterNow().api.get(signingRequests))
        const rogue = items.filter(({ metadata }) => metadata.name.startsWith('rogue-'))
        const isOurs = ({ spec }: (typeof rogue)[number]): boolean =>
          spec.signerName === servingSigner && spec.username !== 'system:node:w2'
        const open = rogue.filter((one) => isOurs(one) && answerIn(one) === undefined)
        if (rogue.length < taken || open.length > 0) throw new Error(`${open.length} are not`)
        return rogue.map(answerIn)
      },
      { within: 3 * minute, every: 1000 },
    )
    expect(answers, `seed ${seed}`).not.toContain('Approved')
    const denied = answers.filter((one) => one === 'Denied').length
    expect(denied).toBeGreaterThan(1000)
    await noteManager(
      'a thousand rogue requests of kubelets',
      `none approved (seed ${seed}): of ${rogues} the API itself did not take ${rogues - taken}, ${denied} were denied, ${taken - denied} were for others or of a host that nobody has planned, and are open`,
    )
  })

  test(
    'something of an addon that is gone is told of, and up puts it back',
    { timeout: 4 * minute },
    async () => {
      const { api, operator } = clusterNow()
      await api.remove(greeting)
      await lookAgain(clusterNow())
      const note = await addonEvent(clusterNow(), 'AddonDrift')
      expect(note).toBe('ConfigMap default/greeting is gone; hyperkube up puts it back')
      await until(
        'the leader to have a figure for it',
        async () => (await figures(clusterNow())).includes('hyperkube_addon_drift_objects{addon="hello"} 1'),
        { within: minute },
      )
      await operator.must(0, 'up', '--yes')
      expect(await api.get(greeting)).toMatchObject({ data: { text: 'hello' } })
      await noteManager(
        'something of an addon is gone',
        'told of in an event and in a figure; `up` puts it back',
      )
    },
  )

  test(
    'with addon-mender on it is put back, and what somebody has changed is told of',
    { timeout: 6 * minute },
    async () => {
      const { api, operator } = clusterNow()
      await operator.edit((document) =>
        document.setIn(['spec', 'manager', 'controllers'], ['*', 'addon-mender']),
      )
      await operator.must(0, 'up', '--yes')
      await api.remove(greeting)
      await lookAgain(clusterNow())
      const isBack = async (): Promise<boolean> =>
        api.get<{ data: { text: string } }>(greeting).then(
          ({ data }) => data.text === 'hello',
          () => false,
        )
      await until('it to be back', isBack, { within: minute })
      await addonEvent(clusterNow(), 'AddonMended')
      await using kubectl = await kubectlOf(clusterNow(), 'v1.37.1')
      await kubectl.run('patch', 'configmap', 'greeting', '-p', JSON.stringify({ data: { text: 'go away' } }))
      await lookAgain(clusterNow())
      await addonEvent(clusterNow(), 'AddonDrift', 'ConfigMap default/greeting was changed')
      // Whose it is now is for people to say.
      expect(await api.get(greeting)).toMatchObject({ data: { text: 'go away' } })
      await noteManager(
        'something of an addon is gone or changed, with addon-mender on',
        'what was gone is put back by itself; what somebody has set otherwise is told of and left',
      )
    },
  )

  test(
    'space that etcd does not use is given back, by one member after the other',
    { timeout: 12 * minute },
    async () => {
      const { api, hosts } = clusterNow()
      const names = Array.from({ length: most }, (_, index) => `space-${index}`)
      const maps = '/api/v1/namespaces/default/configmaps'
      for (let next = 0; next < names.length; next += 8) {
        await settleAll(
          names.slice(next, next + 8).map(async (name) =>
            api.create(maps, {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name },
              data: { text: 'x'.repeat(900_000) },
            }),
          ),
        )
      }
      for (const name of names) await api.remove(`${maps}/${name}`)
      await hosts[0]?.script(
        `${etcdctl} --endpoints=https://127.0.0.1:2379 compaction "$(${etcdctl} --endpoints=https://127.0.0.1:2379 endpoint status -w json | grep -o '"revision":[0-9]*' | head -1 | cut -d: -f2)"`,
      )
      const before = await until(
        'all three to have told of it',
        async () => {
          const sizes = (await statuses(clusterNow())).flatMap(({ etcd }) => etcd?.size ?? [])
          return Math.min(...sizes) > (most / 2) * 2 ** 20 && Math.max(...sizes)
        },
        { within: 2 * minute, every: 1000 },
      )
      // As their agents tell it, and so as the controller knows it: under such a load it may be another one any time.
      let leader: string | undefined
      const done = await until(
        'all three to have given it back',
        async () => {
          const all = (await statuses(clusterNow())).filter(({ etcd }) => etcd !== undefined)
          const each = all.flatMap(({ name, results = [] }) =>
            results.flatMap((result) =>
              result.id.startsWith('etcd-keeper.defragment') && result.outcome === 'done'
                ? [{ name, at: result.at }]
                : [],
            ),
          )
          if (each.length < 3) leader = all.find(({ etcd }) => etcd?.leader === etcd?.id)?.name
          return each.length === 3 && each.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ name }) => name)
        },
        { within: 8 * minute, every: 500 },
      )
      expect({ done, last: done.at(-1) }).toEqual({ done, last: leader })
      const after = await until(
        'it to be told',
        async () => {
          const sizes = (await statuses(clusterNow())).flatMap(({ etcd }) => etcd?.size ?? [])
          return sizes.every((size) => size < before / 4) && Math.max(...sizes)
        },
        { within: 2 * minute, every: 1000 },
      )
      const mega = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`
      await noteManager(
        'space that etcd does not use',
        `given back by ${done.join(', ')}, of which the last one led: ${mega(before)} became ${mega(after)}`,
      )
    },
  )
})

const hello = {
  name: 'hello',
  inline: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'greeting' }, data: { text: 'hello' } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'greeter' } },
  ],
}
const greeting = '/api/v1/namespaces/default/configmaps/greeting'

/** Addons are looked at every ten minutes, and by whoever begins to lead. */
async function lookAgain({ hosts }: UpCluster): Promise<void> {
  for (const one of controlPlanesOf(hosts)) await one.script('systemctl restart hyperkube-controller-manager')
}

/** Waits for one, whose note begins so. */
async function addonEvent(cluster: UpCluster, reason: string, begins = ''): Promise<string> {
  const about = { namespace: 'kube-system', begins }
  return until('an event', async () => eventOf(cluster, reason, about), { within: minute })
}

/** Of all managers: only one that leads says anything of addons. */
async function figures({ hosts }: UpCluster): Promise<string> {
  return (await settleAll(controlPlanesOf(hosts).map(managerFigures))).join('')
}

const signingList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ signerName: z.string(), username: z.string() }),
      status: z.object({ conditions: z.array(z.object({ type: z.string() })).optional() }),
    }),
  ),
})

/** The API itself takes no more than half of them. */
const rogues = 2600

/** Megabytes of what is written and deleted. */
const most = 220

const host = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ requests: z.array(z.unknown()).optional() }),
  status: hostStatus.optional(),
})

async function statuses({ api }: UpCluster) {
  const { items } = z.object({ items: z.array(host) }).parse(await api.get('/apis/hyperkube.dev/v1/hosts'))
  return items.map(({ metadata: { name }, status }) => ({ ...status, name }))
}

async function eventOf(
  { api }: UpCluster,
  reason: string,
  { namespace = 'default', begins = '' } = {},
): Promise<string | undefined> {
  const list = z.object({
    items: z.array(z.object({ reason: z.string().optional(), note: z.string().default('') })),
  })
  const { items } = list.parse(await api.get(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`))
  return items.find((one) => one.reason === reason && one.note.startsWith(begins))?.note
}

async function putStatus(kubectl: Kubectl, kind: string, name: string, status: object): Promise<void> {
  await kubectl.run(
    'patch',
    kind,
    name,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  )
}

/** All that the API wants to know of a node. */
const info = {
  architecture: 'amd64',
  bootID: '1',
  containerRuntimeVersion: '1',
  kernelVersion: '6',
  kubeProxyVersion: '',
  machineID: '1',
  operatingSystem: 'linux',
  osImage: 'none',
  systemUUID: '1',
}
