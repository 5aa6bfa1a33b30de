import { expect, test } from 'vitest'
import { isMinorChange, checkVersionChange } from './version-findings.ts'

function codes(
  desiredVersion: string,
  servers: readonly string[],
  kubelets: Record<string, string> = {},
  workersVersion = desiredVersion,
): string[] {
  const running = { servers, kubelets: new Map(Object.entries(kubelets)) }
  return checkVersionChange(desiredVersion, running, { version: workersVersion, nodes: ['w1'] }).map(
    ({ code, host }) => (host === undefined ? code : `${code} ${host}`),
  )
}

test('the kubelet of a worker is not downgraded, although the control planes are newer', () => {
  const kubelets = { cp1: '1.37.1', w1: '1.36.4' }
  expect(codes('1.37.1', ['1.37.1'], kubelets, '1.36.4')).toEqual([])
  expect(codes('1.37.1', ['1.37.1'], kubelets, '1.35.8')).toEqual(['UPGRADE_DOWNGRADE w1'])
})

test('the next minor, another patch and the running version are allowed', () => {
  for (const desiredVersion of ['1.36.4', '1.36.1', '1.37.1']) {
    expect(codes(desiredVersion, ['1.36.4'], { w1: '1.36.4' })).toEqual([])
  }
  expect(codes('1.37.1', [])).toEqual([])
})

test('skipping a minor and a downgrade of the minor are refused', () => {
  expect(codes('1.38.0', ['1.36.4'])).toEqual(['UPGRADE_SKIPS_MINOR'])
  expect(codes('1.36.4', ['1.37.1'])).toEqual(['UPGRADE_DOWNGRADE'])
})

test('an interrupted upgrade can resume but not be downgraded', () => {
  const kubelets = { cp1: '1.36.4', w1: '1.36.4' }
  expect(codes('1.37.1', ['1.37.1', '1.36.4'], kubelets)).toEqual([])
  expect(codes('1.36.4', ['1.37.1', '1.36.4'], kubelets)).toEqual(['UPGRADE_DOWNGRADE'])
  expect(codes('1.38.0', ['1.37.1', '1.36.4'], kubelets)).toEqual(['UPGRADE_SKIPS_MINOR'])
})

test('an API server that emulates a minor can return to that minor', () => {
  const kubelets = { w1: '1.36.4' }
  expect(codes('1.36.4', ['1.36', '1.36.4'], kubelets)).toEqual([])
  expect(codes('1.37.1', ['1.36', '1.37.1'], kubelets)).toEqual([])
  // One API server no longer emulates 1.36: the confirmation of the upgrade has started, so a rollback is not
  // possible.
  expect(codes('1.36.4', ['1.36', '1.37.1'], kubelets)).toEqual(['UPGRADE_DOWNGRADE'])
  expect(isMinorChange('1.37.1', { servers: ['1.36'], kubelets: new Map() })).toBe(true)
})

test('a kubelet more than three minors behind the desired version is refused', () => {
  expect(codes('1.37.1', ['1.36.4'], { w1: '1.34.0', w2: '1.33.9' })).toEqual(['UPGRADE_SKEW w2'])
})

test('a minor change depends on all servers and kubelets', () => {
  const running = { servers: ['1.37.1'], kubelets: new Map([['w1', '1.36.4']]) }
  expect(isMinorChange('1.37.1', running)).toBe(true)
  expect(isMinorChange('1.37.2', { ...running, kubelets: new Map() })).toBe(false)
})
