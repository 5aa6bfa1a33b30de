import { expect, test } from 'vitest'
import { changesMinor, versionFindings } from './version-findings.ts'

function codes(wished: string, servers: readonly string[], kubelets: Record<string, string> = {}): string[] {
  return versionFindings(wished, { servers, kubelets: new Map(Object.entries(kubelets)) }).map(
    ({ code, host }) => (host === undefined ? code : `${code} ${host}`),
  )
}

test('the next minor, another patch, and what runs already are well', () => {
  for (const wished of ['1.36.4', '1.36.1', '1.37.1']) {
    expect(codes(wished, ['1.36.4'], { w1: '1.36.4' })).toEqual([])
  }
  expect(codes('1.37.1', [])).toEqual([])
})

test('a minor version is neither skipped nor gone back', () => {
  expect(codes('1.38.0', ['1.36.4'])).toEqual(['UPGRADE_SKIPS_MINOR'])
  expect(codes('1.36.4', ['1.37.1'])).toEqual(['UPGRADE_BACK'])
})

test('an upgrade that was cut goes on, and not back', () => {
  const kubelets = { cp1: '1.36.4', w1: '1.36.4' }
  expect(codes('1.37.1', ['1.37.1', '1.36.4'], kubelets)).toEqual([])
  expect(codes('1.36.4', ['1.37.1', '1.36.4'], kubelets)).toEqual(['UPGRADE_BACK'])
  expect(codes('1.38.0', ['1.37.1', '1.36.4'], kubelets)).toEqual(['UPGRADE_SKIPS_MINOR'])
})

test('no kubelet is left too far behind', () => {
  expect(codes('1.37.1', ['1.36.4'], { w1: '1.34.0', w2: '1.33.9' })).toEqual(['UPGRADE_SKEW w2'])
})

test('whether a minor version changes is a matter of all', () => {
  const running = { servers: ['1.37.1'], kubelets: new Map([['w1', '1.36.4']]) }
  expect(changesMinor('1.37.1', running)).toBe(true)
  expect(changesMinor('1.37.2', { ...running, kubelets: new Map() })).toBe(false)
})
