import { expect, test } from 'vitest'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import { planCluster } from '../plan.ts'
import { buildCheckedInput } from '../checks/testing/fixtures.ts'
import { keepalivedComponent } from './hyperkube-keepalived.ts'

function planKeepalived(
  hosts: readonly string[],
  virtualIP = '10.0.0.10',
): ReadonlyMap<string, ComponentPlan> {
  const { plans } = planCluster(buildCheckedInput({ spec: [`api: { virtualIP: ${virtualIP} }`], hosts }))
  return new Map(
    plans.flatMap(({ host, components }) =>
      components.filter(({ name }) => name === keepalivedComponent).map((component) => [host, component]),
    ),
  )
}

function readText(component: ComponentPlan | undefined, name: string): string {
  const content = component?.files.find(({ path }) => path === `/etc/hyperkube/keepalived/${name}`)?.content
  return content?.kind === 'text' ? content.text : ''
}

function readNumber(text: string, name: string): number {
  return Number(new RegExp(`\\b${name}[ =](\\d+)$`, 'm').exec(text)?.[1])
}

const controlPlanes = [1, 2, 3].map(
  (index) => `- { name: cp${index}, address: 10.0.0.1${index}, roles: [control-plane] }`,
)

test('control planes are peers of each other, with different priorities', () => {
  const planned = planKeepalived([...controlPlanes, '- { name: w1, address: 10.0.0.21, roles: [worker] }'])
  expect([...planned.keys()]).toEqual(['cp1', 'cp2', 'cp3'])
  const texts = [...planned.values()].map((component) => readText(component, 'keepalived.conf'))
  expect(texts[1]).toContain(`  unicast_src_ip 10.0.0.12
  check_unicast_src
  unicast_peer {
    10.0.0.11
    10.0.0.13
  }
`)
  expect(texts.map((text) => readNumber(text, 'priority'))).toEqual([210, 184, 158])
  expect(new Set(texts.map((text) => readNumber(text, 'virtual_router_id')))).toEqual(new Set([10]))
})

test('keepalived gets the device of an address that has a label of its own', () => {
  const addresses = [{ interface: 'eth0:1', address: '10.0.0.11', prefix: 24 }]
  const spec = ['api: { virtualIP: 10.0.0.10 }']
  const input = buildCheckedInput({ spec, hosts: controlPlanes, facts: { cp1: { linux: { addresses } } } })
  const [cp1] = planCluster(input).plans
  const component = cp1?.components.find(({ name }) => name === keepalivedComponent)
  expect(readText(component, 'keepalived.conf')).toContain('  interface eth0\n')
})

test('a holder without quorum, or one that hangs or is killed, loses the address before another host takes over', () => {
  const component = planKeepalived(controlPlanes).get('cp1')
  const text = readText(component, 'keepalived.conf')
  const unit = component?.service?.supervisor === 'systemd' ? component.service.unit : ''
  const interval = readNumber(text, 'advert_int')
  // The last advertisement may be a whole interval old when the fault begins.
  const takeoverMs = (readNumber(text, 'down_timer_adverts') - 1) * interval * 1000
  const checkMs = readNumber(text, 'interval') * 1000
  const timeoutMs = Number(/timeout ([\d.]+) curl/.exec(readText(component, 'check'))?.[1]) * 1000
  expect(timeoutMs).toBeLessThan(checkMs)
  expect(checkMs * readNumber(text, 'fall') + timeoutMs).toBeLessThan(takeoverMs)
  expect(readNumber(unit, 'WatchdogSec') * 1000).toBeLessThanOrEqual(takeoverMs)
  expect(readNumber(unit, 'TimeoutStopSec') * 1000).toBeLessThan(takeoverMs)
  expect(unit).toContain('ExecStopPost=-/usr/sbin/ip -4 address flush to 10.0.0.10/32\n')
})

test('the check includes the etcd member of the host, if there is one', () => {
  const etcd = 'http://127.0.0.1:2381/readyz'
  expect(readText(planKeepalived(controlPlanes).get('cp1'), 'check')).toContain(etcd)
  const dedicated = planKeepalived([...controlPlanes, '- { name: etcd1, address: 10.0.0.31, roles: [etcd] }'])
  const check = readText(dedicated.get('cp1'), 'check')
  expect(check).not.toContain(etcd)
  expect(check).toContain('https://127.0.0.1:6443/readyz')
})

test('a single control plane has no peers, and an id of zero is avoided', () => {
  const hosts = ['- { name: cp1, address: 10.0.0.11, internalAddress: 10.0.0.11, roles: [control-plane] }']
  const text = readText(planKeepalived(hosts).get('cp1'), 'keepalived.conf')
  expect(text).toContain('mcast_src_ip 10.0.0.11')
  expect(text).not.toContain('unicast')
})

test('a cluster without a virtual IP has no keepalived', () => {
  const { plans } = planCluster(buildCheckedInput({ hosts: controlPlanes }))
  expect(plans.flatMap(({ components }) => components).map(({ name }) => name)).not.toContain(
    keepalivedComponent,
  )
})
