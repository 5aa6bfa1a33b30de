import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HostHealth } from '../../../contract/health.ts'
import { pollUntil } from '../../../kit/poll.ts'
import { setUpHealHost as setUpHost } from '../../heal/testing/heal-host.ts'
import type { WindowsHost } from '../../host/host.ts'
import { windowsLayout } from '../../host/layout.ts'
import { createTemporaryHost, type TemporaryHost } from '../../host/testing/temporary-host.ts'
import { renewLocalCertificates } from '../../renewal/renew-local.ts'
import { RenewalTestCluster } from '../../renewal/testing/renewal-cluster.ts'
import {
  createCaptureLogsHandler,
  createCheckHandler,
  createRenewHandler,
} from './create-request-handlers.ts'

const never = new AbortController().signal
const since = '2027-01-01T00:00:00.000Z'
const health: HostHealth = {
  ...{ at: since, healPolicy: 'default', budget: { used: 0, max: 1, windowMs: 1 }, actions: [] },
  components: [{ component: 'etcd', state: 'healthy', since, drift: [] }],
  probes: [{ component: 'etcd', probe: 'livez', scope: 'local', state: 'healthy', since }],
}

let stack: AsyncDisposableStack
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(async () => stack.disposeAsync())

test('a check runs every probe again and reports components and probes that are not healthy', async () => {
  const freshFlags: boolean[] = []
  const healer = (result: HostHealth) => ({
    async health(fresh: boolean) {
      freshFlags.push(fresh)
      return result
    },
  })
  const action = { type: 'check' } as const
  expect(await createCheckHandler(healer(health))(action, never)).toEqual([
    '1 components and 1 probes are healthy',
  ])
  const unhealthy: HostHealth = {
    ...health,
    components: [{ component: 'etcd', state: 'blocked', since, because: 'no quorum', drift: [] }],
    probes: [
      { component: 'etcd', probe: 'readyz', scope: 'remote', state: 'degraded', since, message: '503' },
    ],
  }
  expect(await createCheckHandler(healer(unhealthy))(action, never)).toEqual([
    'etcd is blocked: no quorum',
    'etcd: readyz fails: 503',
  ])
  expect(freshFlags).toEqual([true, true])
})

test('logs are captured only of services of the plan', async () => {
  const host: TemporaryHost = stack.use(await createTemporaryHost())
  const plan = await setUpHost(host)
  const handler = createCaptureLogsHandler({ host, plan: async () => plan })
  const [first] = await handler({ type: 'capture-logs', component: 'containerd' }, never)
  expect(first).toMatch(/^saved in \/var\/log\/hyperkube\/healing\/containerd\..*\.log$/)
  for (const component of ['../../../etc/passwd', 'sshd']) {
    await expect(handler({ type: 'capture-logs', component }, never)).rejects.toMatchObject({
      code: 'HOST_UNSUPPORTED',
    })
  }
})

test('a Windows host refuses to capture logs, with a hint to their directory', async () => {
  const layout = windowsLayout(String.raw`C:\hyperkube`)
  const host: Pick<WindowsHost, 'os' | 'layout'> = { os: 'windows', layout }
  const handler = createCaptureLogsHandler({ host, plan: async () => undefined })
  await expect(handler({ type: 'capture-logs', component: 'kubelet' }, never)).rejects.toMatchObject({
    code: 'HOST_UNSUPPORTED',
    hint: expect.stringContaining(String.raw`C:\hyperkube\logs`),
  })
})

test('due certificates are renewed at once, unless an operator holds the lock', async () => {
  const cluster = stack.use(await RenewalTestCluster.create())
  const { deps, planned } = await cluster.createAgent('cp1', 'control-plane')
  const handler = createRenewHandler(async (log) => renewLocalCertificates({ ...deps, log }))
  const action = { type: 'renew-certificates' } as const
  await deps.claims.acquire({ holder: 'ana', generation: 1 }, false, false)
  await expect(handler(action, never)).rejects.toMatchObject({ code: 'HOST_BUSY' })
  await deps.claims.release({ holder: 'ana', generation: 1 })
  expect(await handler(action, never)).toEqual([
    `renewed ${planned.map(({ certificateFile }) => certificateFile).join(', ')}`,
  ])
  // A run emits its end before it is removed from `runs`, so the test waits for the removal.
  await pollUntil('the run to end', async () => !deps.runs.busy, { timeoutMs: 5000, intervalMs: 5 })
  expect(await handler(action, never)).toEqual([expect.stringContaining('no certificate is due')])
})

test('a failed renewal returns its error', async () => {
  const cluster = stack.use(await RenewalTestCluster.create())
  const { deps } = await cluster.createAgent('e1', 'etcd')
  const handler = createRenewHandler(async (log) => renewLocalCertificates({ ...deps, log }))
  await expect(handler({ type: 'renew-certificates' }, never)).rejects.toMatchObject({
    code: 'RENEWAL_NO_API',
  })
})
