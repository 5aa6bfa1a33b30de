import { expect, test } from 'vitest'
import { formatTestCommand, parseTestCommand } from './test-command.ts'
import { nodeObject } from './node-objects.ts'

test('a node has the Windows label and a taint against other pods', () => {
  expect(nodeObject('win1')).toMatchObject({
    metadata: { name: 'win1', labels: { 'kubernetes.io/os': 'windows' } },
    spec: { taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
  })
})

test('commands of a test are distinguished from login commands', () => {
  expect(parseTestCommand(formatTestCommand('remove-rule', ['x']))).toEqual({ lab: 'remove-rule', name: 'x' })
  expect(parseTestCommand(String.raw`C:\hyperkube\hyperkube.exe agent-call`)).toBeUndefined()
})
