import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Flags } from '../../catalog/program-flags.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { planCluster } from '../plan.ts'
import { buildPlanInput, parseTestCluster } from '../testing/fixtures.ts'
import { checkPlannedFlags } from './planned-flags.ts'

/** A cluster with a control plane, a Linux worker and a Windows worker. */
const text = readFileSync(join(import.meta.dirname, '../../../examples/windows.yml'), 'utf8')
const { flags } = shippedCatalog

const { plans } = planCluster(buildPlanInput(parseTestCluster(text)))

test.each([
  ['kube-apiserver', 'etcd-servers', '1.37.1'],
  ['kube-scheduler', 'profiling', '1.37.1'],
  ['kubelet', 'config', '1.37.1'],
  ['etcd', 'data-dir', '3.7.3'],
])('%s without --%s is reported once for all hosts', (program, flag, version) => {
  const remove = ({ [flag]: _removed, ...others }: Flags): Flags => others
  const byMinor = flags.byMinor.map(({ minor, flags: programs }) => ({
    minor,
    flags: { ...programs, ...(programs[program] && { [program]: remove(programs[program]) }) },
  }))
  expect(checkPlannedFlags(plans, { ...flags, byMinor })).toMatchObject([
    {
      code: 'PLAN_FLAG_MISSING',
      severity: 'error',
      component: program,
      message: `this release of hyperkube sets --${flag}, which ${program} ${version} does not have`,
    },
  ])
})

test('flags that exist only on Windows are accepted on Windows hosts', () => {
  const findings = checkPlannedFlags(plans, { ...flags, windows: {} })
  expect(findings.map(({ message }) => message)).toContain(
    'this release of hyperkube sets --windows-service, which kubelet 1.37.1 does not have',
  )
})
