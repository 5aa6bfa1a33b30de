import { array, assert, constantFrom, property, subarray, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { withFailingProbes, buildHealthyCluster, withLostHosts } from '../observe/testing/cluster-fixtures.ts'
import { diagnose } from './diagnose.ts'
import { formatDiagnosisKey } from './diagnosis.ts'

const healthy = buildHealthyCluster()
const codes = [
  'HEALTH_NO_RESPONSE',
  'HEALTH_CHECK_FAILED',
  'DISK_FULL',
  'DISK_SLOW',
  'API_UNREACHABLE',
  'API_NOT_READY',
  'ETCD_NO_QUORUM',
  'PEERS_UNREACHABLE',
  'NODE_LEASE_OLD',
  'OVERLAY_SUBNET',
  'RUNTIME_NO_NETWORK',
  'CERTIFICATE_EXPIRED',
  'CLOCK_OFF',
]

test('every problem is reported once, and every effect follows its cause', () => {
  const fault = tuple(
    constantFrom(...healthy.endpoints.map(({ host }) => host)),
    constantFrom('etcd', 'kube-apiserver', 'containerd', 'kubelet', 'flanneld', 'apiserver-proxy'),
    constantFrom(...codes),
    constantFrom('local' as const, 'remote' as const),
  )
  assert(
    property(array(fault, { maxLength: 12 }), subarray(['cp1', 'cp2', 'w1']), (faults, unreachable) => {
      const observation = withLostHosts(
        faults.reduce((previous, [host, ...failure]) => withFailingProbes(previous, host, failure), healthy),
        ...unreachable,
      )
      const diagnoses = diagnose(observation)
      expect(new Set(diagnoses.map(formatDiagnosisKey)).size).toBe(diagnoses.length)
      expect(diagnoses.length > 0).toBe(faults.length > 0 || unreachable.length > 0)
      const causes = diagnoses.map((_, index) =>
        diagnoses.slice(0, index + 1).findLast(({ causedBy }) => causedBy === undefined),
      )
      const misplaced = diagnoses.filter(
        ({ causedBy }, index) =>
          causedBy !== undefined && causedBy !== formatDiagnosisKey(causes[index] ?? { code: '' }),
      )
      expect(misplaced).toEqual([])
    }),
  )
})
