import { expect, test } from 'vitest'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import { managerSettingsFormat } from '../../contract/manager-settings.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildTestCluster, buildPlanInput } from '../testing/fixtures.ts'
import { planCluster } from '../plan.ts'
import type { PlanInput } from '../context.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)

function withSpec(spec: Partial<Cluster['spec']>): Cluster {
  return { ...cluster, spec: { ...cluster.spec, ...spec } }
}

function findManager(
  desired: Cluster,
  host = 'cp1',
  more: Partial<PlanInput> = {},
): ComponentPlan | undefined {
  const plan = planCluster({ ...buildPlanInput(desired), ...more }).plans.find((one) => one.host === host)
  return plan?.components.find(({ name }) => name === 'hyperkube-controller-manager')
}

function readSettings(component: ComponentPlan | undefined): unknown {
  const content = component?.files.find(({ path }) => path.endsWith('/settings.json'))?.content
  return readVersioned(managerSettingsFormat, JSON.parse(content?.kind === 'text' ? content.text : ''))
}

test('control planes run the controller manager unless it is disabled', () => {
  expect(findManager(cluster)).toBeDefined()
  expect(findManager(cluster, 'w1')).toBeUndefined()
  expect(findManager(withSpec({ manager: 'none' }))).toBeUndefined()
})

test('the command of the manager lists the controllers, and its settings file contains the snapshot schedule', () => {
  const snapshots = { schedule: '0 */6 * * *', keep: { hourly: 4, daily: 7, weekly: 4 } }
  const some = withSpec({
    manager: { controllers: ['*', '-snapshot-schedule'] },
    etcd: { ...cluster.spec.etcd, snapshots },
  })
  const service = findManager(some)?.service
  expect(service?.supervisor === 'systemd' && service.unit).toContain('--controllers=*,-snapshot-schedule \\')
  expect(readSettings(findManager(some))).toMatchObject({ snapshots })
  expect(readSettings(findManager(cluster))).not.toHaveProperty('snapshots')
})

test('the settings contain addons only if controllers repair them', () => {
  const addons = [{ name: 'hello', manifests: [] }]
  const repairing = withSpec({ manager: { controllers: ['*', 'addon-reconciler'] } })
  expect(readSettings(findManager(repairing, 'cp1', { addons }))).toMatchObject({ addons })
  expect(readSettings(findManager(cluster, 'cp1', { addons }))).not.toHaveProperty('addons')
})
