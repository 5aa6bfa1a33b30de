import type { Plan } from 'hyperkube/client'
import { expect, test } from 'vitest'
import { renderDriftReport } from './drift-report.ts'

const op = {
  component: 'kubelet',
  stage: 'node',
  action: 'change',
  target: 'file',
  name: '/etc/hyperkube/kubelet/config.yaml',
  because: [],
} satisfies Plan['ops'][string][number]

test('without drift and problems there is no report', () => {
  expect(renderDriftReport('shop', { ops: { w1: [] }, findings: [] }, { findings: [] })).toBeUndefined()
})

test('the report lists drift by host, and problems with their commands', () => {
  const problem = {
    code: 'DISK_FULL',
    severity: 'error',
    host: 'w1',
    what: 'the disk is full',
    evidence: [],
    command: 'hyperkube logs kubelet',
    needsOperator: true,
    meaning: '',
  } as const
  const report = renderDriftReport(
    'shop',
    { ops: { w1: [op], w2: [] }, findings: [] },
    { findings: [problem] },
  )
  expect(report).toMatchInlineSnapshot(`
    "# shop

    ## What \`hyperkube up\` would change

    - w1: change file /etc/hyperkube/kubelet/config.yaml

    ## Problems

    - DISK_FULL w1: the disk is full → \`hyperkube logs kubelet\`
    "
  `)
})
