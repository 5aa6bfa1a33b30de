import { expect, test } from 'vitest'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import { managerSettingsFormat } from '../../contract/manager-settings.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { clusterWith, planInput } from '../testing/fixtures.ts'
import { planCluster } from '../plan.ts'
import type { PlanInput } from '../context.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)

function withSpec(spec: Partial<Cluster['spec']>): Cluster {
  return { ...cluster, spec: { ...cluster.spec, ...spec } }
}

function managerOf(wished: Cluster, host = 'cp1', more: Partial<PlanInput> = {}): ComponentPlan | undefined {
  const plan = planCluster({ ...planInput(wished), ...more }).plans.find((one) => one.host === host)
  return plan?.components.find(({ name }) => name === 'hyperkube-controller-manager')
}

function settingsIn(component: ComponentPlan | undefined): unknown {
  const content = component?.files.find(({ path }) => path.endsWith('/settings.json'))?.content
  return readVersioned(managerSettingsFormat, JSON.parse(content?.kind === 'text' ? content.text : ''))
}

test('control planes run the controllers, unless nobody wants any', () => {
  expect(managerOf(cluster)).toBeDefined()
  expect(managerOf(cluster, 'w1')).toBeUndefined()
  expect(managerOf(withSpec({ manager: 'none' }))).toBeUndefined()
})

test('which of them are on is said in its command, and what they must know in a file that it reads', () => {
  const snapshots = { schedule: '0 */6 * * *', keep: { hourly: 4, daily: 7, weekly: 4 } }
  const some = withSpec({
    manager: { controllers: ['*', '-snapshot-schedule'] },
    etcd: { ...cluster.spec.etcd, snapshots },
  })
  const service = managerOf(some)?.service
  expect(service?.supervisor === 'systemd' && service.unit).toContain('--controllers=*,-snapshot-schedule \\')
  expect(settingsIn(managerOf(some))).toMatchObject({ snapshots })
  expect(settingsIn(managerOf(cluster))).not.toHaveProperty('snapshots')
})

test('addons are known to it only where it shall put them back', () => {
  const addons = [{ name: 'hello', manifests: [] }]
  const mending = withSpec({ manager: { controllers: ['*', 'addon-mender'] } })
  expect(settingsIn(managerOf(mending, 'cp1', { addons }))).toMatchObject({ addons })
  expect(settingsIn(managerOf(cluster, 'cp1', { addons }))).not.toHaveProperty('addons')
})
