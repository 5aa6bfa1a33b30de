import { expect, test } from 'vitest'
import { watchedWindowsServices } from '../../contract/windows-services.ts'
import { checkCaseBriefly } from './testing/fixtures.ts'

function found(foreignServices: readonly string[], ...spec: readonly string[]): string[] {
  return checkCaseBriefly({ spec, facts: { win1: { windows: { foreignServices: [...foreignServices] } } } })
}

test.each([
  ['kubelet', ['win1 error HOST_WINDOWS_SERVICE_TAKEN']],
  ['containerd', ['win1 error HOST_WINDOWS_SERVICE_TAKEN']],
  ['rke2', ['win1 error HOST_WINDOWS_OTHER_NODE']],
  ['docker', ['win1 warning HOST_WINDOWS_DOCKER']],
])('a foreign %s', (name, expected) => {
  expect(found([name])).toEqual(expected)
})

test('everything that is looked for is a finding, unless the host does not run it', () => {
  expect(found(watchedWindowsServices)).toHaveLength(watchedWindowsServices.length)
  expect(found(['flanneld'])).toHaveLength(1)
  expect(found(['flanneld'], 'network: { plugin: none }')).toEqual([])
})
