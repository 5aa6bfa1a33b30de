import { expect, test } from 'vitest'
import { adjust, adjustmentIn } from './test-command.ts'
import { nodeObject } from './node-objects.ts'

test('a node says that it runs Windows, and keeps other pods away', () => {
  expect(nodeObject('win1')).toMatchObject({
    metadata: { name: 'win1', labels: { 'kubernetes.io/os': 'windows' } },
    spec: { taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
  })
})

test('what a test asks for is told from what a login types', () => {
  expect(adjustmentIn(adjust('remove-rule', ['x']))).toEqual({ lab: 'remove-rule', name: 'x' })
  expect(adjustmentIn(String.raw`C:\hyperkube\hyperkube.exe agent-call`)).toBeUndefined()
})
