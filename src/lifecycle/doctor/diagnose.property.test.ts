import { array, assert, constantFrom, property, subarray, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { failing, healthyLook, lost } from '../observe/testing/cluster-fixtures.ts'
import { diagnose } from './diagnose.ts'
import { keyOf } from './diagnosis.ts'

const well = healthyLook()
const codes = [
  'HEALTH_NO_ANSWER',
  'HEALTH_UNWELL',
  'DISK_FULL',
  'DISK_SLOW',
  'API_NOT_REACHED',
  'API_NOT_READY',
  'ETCD_NO_QUORUM',
  'NEIGHBOURS_SILENT',
  'NODE_LEASE_OLD',
  'OVERLAY_SUBNET',
  'RUNTIME_NO_NETWORK',
  'CERTIFICATE_EXPIRED',
  'CLOCK_OFF',
]

test('whatever is wrong: all of it is told once, and every consequence stands behind its cause', () => {
  const fault = tuple(
    constantFrom(...well.places.map(({ host }) => host)),
    constantFrom('etcd', 'kube-apiserver', 'containerd', 'kubelet', 'flanneld', 'apiserver-proxy'),
    constantFrom(...codes),
    constantFrom('local' as const, 'remote' as const),
  )
  assert(
    property(array(fault, { maxLength: 12 }), subarray(['cp1', 'cp2', 'w1']), (faults, gone) => {
      const look = lost(
        faults.reduce((before, [host, ...one]) => failing(before, host, one), well),
        ...gone,
      )
      const told = diagnose(look)
      expect(new Set(told.map(keyOf)).size).toBe(told.length)
      expect(told.length > 0).toBe(faults.length > 0 || gone.length > 0)
      const causeOf = told.map((_, at) =>
        told.slice(0, at + 1).findLast(({ follows }) => follows === undefined),
      )
      const misplaced = told.filter(
        ({ follows }, at) => follows !== undefined && follows !== keyOf(causeOf[at] ?? { code: '' }),
      )
      expect(misplaced).toEqual([])
    }),
  )
})
