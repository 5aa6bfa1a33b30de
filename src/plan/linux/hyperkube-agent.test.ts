import { expect, test } from 'vitest'
import { buildTestCluster, buildPlanInput } from '../testing/fixtures.ts'
import { planCluster } from '../plan.ts'

const input = buildPlanInput(
  buildTestCluster(
    '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
    '{ name: w1, address: 10.0.0.2, roles: [worker] }',
  ),
)

test('a new hyperkube release on a host changes only its agent and its controller manager', () => {
  const version = (host: string): string => (host === 'cp1' ? '0.2.0' : '0.1.0')
  const [before, after] = [input, { ...input, version }].map((one) =>
    planCluster(one).plans.flatMap(({ host, components }) =>
      components.map((component) => ({ ...component, host })),
    ),
  )
  const changed = after?.filter(
    (component, index) => JSON.stringify(component) !== JSON.stringify(before?.[index]),
  )
  expect(changed?.map(({ host, name }) => `${host} ${name}`)).toEqual([
    'cp1 hyperkube-agent',
    'cp1 hyperkube-controller-manager',
  ])
  expect(changed?.[0]?.service).toEqual(before?.find(({ name }) => name === 'hyperkube-agent')?.service)
})
