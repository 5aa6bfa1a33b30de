import { expect, test } from 'vitest'
import type { Os } from './artifacts.ts'
import { checkArgs } from './check-args.ts'
import { shippedCatalog } from './shipped-catalog.ts'
import type { ProgramName } from './program-flags.ts'

function formatFindings(
  program: ProgramName,
  flags: readonly string[],
  version: string,
  os: Os = 'linux',
): string[] {
  const args = Object.fromEntries(flags.map((flag) => [flag, 'true']))
  return checkArgs(shippedCatalog, program, args, version, os).map(
    ({ code, message, hint }) => `${code}: ${message} → ${hint}`,
  )
}

test('a removed flag is reported with the version that removed it', () => {
  expect(
    checkArgs(shippedCatalog, 'kubelet', { v: '2', 'pod-infra-container-image': 'x' }, '1.36.4', 'linux'),
  ).toEqual([
    {
      code: 'FLAG_REMOVED',
      severity: 'error',
      component: 'kubelet',
      message:
        '--pod-infra-container-image was removed in kubelet 1.35; Kubernetes 1.36.4 comes with kubelet 1.36.4',
      hint: 'remove it',
    },
  ])
})

test('a flag of an older minor that a newer minor lacks is reported as removed', () => {
  expect(formatFindings('kubelet', ['containerd-namespace'], '1.36.4')).toEqual([])
  expect(formatFindings('kubelet', ['containerd-namespace'], '1.37.1')).toEqual([
    'FLAG_REMOVED: --containerd-namespace was removed in kubelet 1.37; Kubernetes 1.37.1 comes with kubelet 1.37.1 → remove it',
  ])
})

test('a flag of a newer minor is unknown, and the message names that minor', () => {
  expect(formatFindings('kube-controller-manager', ['concurrent-disruption-syncs'], '1.37.1')).toEqual([])
  expect(formatFindings('kube-controller-manager', ['concurrent-disruption-syncs'], '1.36.4')).toEqual([
    'FLAG_UNKNOWN: kube-controller-manager 1.36.4 has no flag --concurrent-disruption-syncs → remove it: kube-controller-manager has this flag from 1.37 on',
  ])
})

test('etcd flags are checked against the etcd version', () => {
  const flags = ['experimental-initial-corrupt-check', 'experimental-peer-skip-client-san-verification']
  expect(formatFindings('etcd', [...flags, 'discovery'], '1.36.4')).toEqual([])
  expect(formatFindings('etcd', [...flags, 'discovery'], '1.37.1')).toEqual([
    'FLAG_REMOVED: --experimental-initial-corrupt-check was removed in etcd 3.7; Kubernetes 1.37.1 comes with etcd 3.7.3 → remove it',
    'FLAG_REMOVED: --experimental-peer-skip-client-san-verification was removed in etcd 3.7; Kubernetes 1.37.1 comes with etcd 3.7.3 → use its new name peer-skip-client-san-verification',
    'FLAG_REMOVED: --discovery was removed in etcd 3.7; Kubernetes 1.37.1 comes with etcd 3.7.3 → remove it',
  ])
})

test('a mistyped flag is unknown, and the hint suggests the closest flag', () => {
  expect(formatFindings('kube-apiserver', ['anonymus-auth', 'completely-else'], '1.37.1')).toEqual([
    'FLAG_UNKNOWN: kube-apiserver 1.37.1 has no flag --anonymus-auth → did you mean anonymous-auth? If not, remove it; kube-apiserver --help lists all flags',
    'FLAG_UNKNOWN: kube-apiserver 1.37.1 has no flag --completely-else → remove it; kube-apiserver --help lists all flags',
  ])
  expect(formatFindings('flanneld', ['constructor'], '1.37.1')).toHaveLength(1)
})

test('logging flags, feature gates and flags missing from --help are known', () => {
  for (const program of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'] as const) {
    const args = { v: '2', vmodule: 'a=1', 'feature-gates': 'AllAlpha=false', 'logging-format': 'json' }
    expect(checkArgs(shippedCatalog, program, args, '1.37.1', 'linux')).toEqual([])
  }
  expect(checkArgs(shippedCatalog, 'kube-apiserver', { 'apiserver-count': '3' }, '1.37.1', 'linux')).toEqual(
    [],
  )
  expect(checkArgs(shippedCatalog, 'kube-proxy', { 'healthz-port': '1' }, '1.37.1', 'linux')).toEqual([])
})

test('a flag removed from the kubelet is unknown, not removed, for kube-apiserver', () => {
  const [finding] = checkArgs(
    shippedCatalog,
    'kube-apiserver',
    { 'pod-infra-container-image': 'x' },
    '1.37.1',
    'linux',
  )
  expect(finding?.code).toBe('FLAG_UNKNOWN')
})

test('a Windows-only flag is accepted on Windows and unknown on Linux', () => {
  expect(formatFindings('kube-proxy', ['enable-dsr', 'v'], '1.37.1', 'windows')).toEqual([])
  expect(formatFindings('kube-proxy', ['enable-dsr'], '1.37.1')).toEqual([
    'FLAG_UNKNOWN: kube-proxy 1.37.1 has no flag --enable-dsr on Linux → set it in the components of a Windows host',
  ])
})

test.each(['true', 'false', 'True', 'F', '0'])('a boolean flag accepts %s', (value) => {
  expect(checkArgs(shippedCatalog, 'kubelet', { 'fail-swap-on': value }, '1.37.1', 'linux')).toEqual([])
})

test.each(['no', 'on', '', 'tRUE', '10s'])('a boolean flag does not accept %j', (value) => {
  expect(checkArgs(shippedCatalog, 'kubelet', { 'fail-swap-on': value }, '1.37.1', 'linux')).toMatchObject([
    { code: 'FLAG_VALUE', message: `--fail-swap-on takes true or false, not ${JSON.stringify(value)}` },
  ])
})
