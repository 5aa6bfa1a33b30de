import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HostHealth } from '../../../contract/health.ts'
import { until } from '../../../kit/poll-until.ts'
import type { WindowsHost } from '../../host/host.ts'
import { windowsLayout } from '../../host/layout.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { setUp as setUpHost } from '../../heal/testing/heal-host.ts'
import { renewOwn } from '../../renewal/renew-local.ts'
import { TestCluster } from '../../renewal/testing/renewal-cluster.ts'
import { captureLogs } from './capture-logs.ts'
import { check } from './check.ts'
import { renewCertificates } from './renew-certificates.ts'

const never = new AbortController().signal
const since = '2027-01-01T00:00:00.000Z'
const health: HostHealth = {
  ...{ at: since, ladder: 'usual', budget: { spent: 0, most: 1, within: 1 }, actions: [] },
  components: [{ component: 'etcd', state: 'well', since, drift: [] }],
  probes: [{ component: 'etcd', probe: 'livez', scope: 'local', state: 'well', since }],
}

let stack: AsyncDisposableStack
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(async () => stack.disposeAsync())

test('a check asks every probe anew, and says what is not well', async () => {
  const asked: boolean[] = []
  const healer = (answer: HostHealth) => ({
    async health(fresh: boolean) {
      asked.push(fresh)
      return answer
    },
  })
  const ask = { type: 'check' } as const
  expect(await check(healer(health))(ask, never)).toEqual(['1 components and 1 probes are well'])
  const unwell: HostHealth = {
    ...health,
    components: [{ component: 'etcd', state: 'held', since, because: 'no quorum', drift: [] }],
    probes: [{ component: 'etcd', probe: 'readyz', scope: 'remote', state: 'shaky', since, seen: '503' }],
  }
  expect(await check(healer(unwell))(ask, never)).toEqual([
    'etcd is held: no quorum',
    'etcd: readyz fails: 503',
  ])
  expect(asked).toEqual([true, true])
})

test('the log of a service of the plan is kept, and of nothing else', async () => {
  const host: TemporaryHost = stack.use(await temporaryHost())
  const plan = await setUpHost(host)
  const deed = captureLogs({ host, plan: async () => plan })
  const [first] = await deed({ type: 'capture-logs', component: 'containerd' }, never)
  expect(first).toMatch(/^kept in \/var\/log\/hyperkube\/healing\/containerd\..*\.log$/)
  for (const component of ['../../../etc/passwd', 'sshd']) {
    await expect(deed({ type: 'capture-logs', component }, never)).rejects.toMatchObject({
      code: 'HOST_CANNOT',
    })
  }
})

test('a Windows host says where its logs are', async () => {
  const layout = windowsLayout(String.raw`C:\hyperkube`)
  const host: Pick<WindowsHost, 'os' | 'layout'> = { os: 'windows', layout }
  const deed = captureLogs({ host, plan: async () => undefined })
  await expect(deed({ type: 'capture-logs', component: 'kubelet' }, never)).rejects.toMatchObject({
    code: 'HOST_CANNOT',
    hint: expect.stringContaining(String.raw`C:\hyperkube\logs`),
  })
})

test('certificates that are due are renewed now, unless somebody else decides what is done', async () => {
  const cluster = stack.use(await TestCluster.make())
  const { scene, wishes } = await cluster.agent('cp1', 'control-plane')
  const deed = renewCertificates(async (say) => renewOwn({ ...scene, say }))
  const ask = { type: 'renew-certificates' } as const
  await scene.claims.take({ holder: 'ana', generation: 1 }, false, false)
  await expect(deed(ask, never)).rejects.toMatchObject({ code: 'HOST_TAKEN' })
  await scene.claims.release({ holder: 'ana', generation: 1 })
  expect(await deed(ask, never)).toEqual([
    `renewed ${wishes.map(({ certificateFile }) => certificateFile).join(', ')}`,
  ])
  // The end of a run is told before it is written down.
  await until('the run to be over', async () => !scene.runs.busy, { within: 5000, every: 5 })
  expect(await deed(ask, never)).toEqual([expect.stringContaining('nothing is due')])
})

test('what keeps it from being renewed is the answer', async () => {
  const cluster = stack.use(await TestCluster.make())
  const { scene } = await cluster.agent('e1', 'etcd')
  const deed = renewCertificates(async (say) => renewOwn({ ...scene, say }))
  await expect(deed({ type: 'renew-certificates' }, never)).rejects.toMatchObject({ code: 'RENEWAL_NO_WAY' })
})
