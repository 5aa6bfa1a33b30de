import { expect, test } from 'vitest'
import type { NetworkProbeOutcome } from '../../contract/network-probe.ts'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest } from '../../contract/request.ts'
import { buildCheckedInput } from '../../plan/checks/testing/fixtures.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import { checkVirtualIpInUse } from './check-virtual-ip.ts'

const hosts = ['cp1', 'cp2'].map(
  (name, index) => `- { name: ${name}, address: 10.0.0.1${index}, roles: [control-plane] }`,
)
const installed = buildOp({ action: 'create', target: 'service' })
const changed = buildOp({ action: 'change', target: 'file' })
const certificate = buildOp({ action: 'change', target: 'certificate', component: 'kube-apiserver' })

function buildOp(fields: Partial<Op>): Op {
  const where = { component: 'hyperkube-keepalived', stage: 'controllers', name: 'x' } as const
  return { ...where, because: [], action: 'change', target: 'file', ...fields }
}

interface Case {
  readonly ops?: readonly Op[]
  readonly outcome?: NetworkProbeOutcome
  readonly addresses?: readonly string[]
  readonly unreachable?: string
}

/** Returns the codes of the findings and the number of probes. */
async function check({ ops = [installed], outcome = 'ok', addresses = [], unreachable }: Case) {
  const { cluster, facts } = buildCheckedInput({
    spec: ['api: { virtualIP: 10.0.0.100 }'],
    hosts,
    facts: {
      cp1: {
        linux: {
          addresses: ['10.0.0.10', ...addresses].map((address) => ({
            interface: 'eth0',
            address,
            prefix: 24,
          })),
        },
      },
    },
  })
  const requests: AgentRequest['body'][] = []
  const session = scriptedSession('cp1', {
    run: async function* () {},
    requests,
    respond: ({ type }) =>
      type === 'probe' ? { type: 'probed', results: [{ outcome, milliseconds: 1 }] } : undefined,
  })
  try {
    const findings = await checkVirtualIpInUse(new Map([['cp1', session]]), {
      cluster,
      facts: new Map([...facts].filter(([host]) => host !== unreachable)),
      ops: new Map([
        ['cp1', ops],
        ['cp2', ops],
      ]),
    })
    return [findings.map(({ code }) => code), requests.filter(({ type }) => type === 'probe').length]
  } finally {
    await session.close()
  }
}

test.each(['ok', 'refused', 'unexpected-response'] as const)(
  'a new address that responds (%s) is in use',
  async (outcome) => {
    expect(await check({ outcome })).toEqual([['VIRTUAL_IP_IN_USE'], 1])
  },
)

test.each(['timeout', 'unreachable'] as const)(
  'an address that does not respond (%s) is free',
  async (outcome) => {
    expect(await check({ outcome })).toEqual([[], 1])
  },
)

test('another address is checked too, and other changes are not', async () => {
  expect(await check({ ops: [changed, certificate] })).toEqual([['VIRTUAL_IP_IN_USE'], 1])
  // The holder may be a host that is about to be removed.
  expect(await check({ ops: [changed] })).toEqual([[], 0])
  expect(await check({ ops: [] })).toEqual([[], 0])
})

test('an address that a host of the cluster has, or may have, is not probed', async () => {
  expect(await check({ addresses: ['10.0.0.100'] })).toEqual([[], 0])
  expect(await check({ unreachable: 'cp2' })).toEqual([[], 0])
})
