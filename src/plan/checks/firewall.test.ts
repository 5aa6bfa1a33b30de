import { expect, test } from 'vitest'
import { checkCase, defaultHostLines } from './testing/fixtures.ts'

function hint(
  host: string,
  firewall: 'firewalld' | 'ufw',
  spec: readonly string[] = [],
  lines?: readonly string[],
) {
  const found = checkCase({
    spec,
    facts: { [host]: { linux: { firewalls: [firewall] } } },
    ...(lines === undefined ? {} : { hosts: lines }),
  })
  expect(found).toMatchObject([{ code: 'HOST_FIREWALL', severity: 'warning', host }])
  return found[0]?.hint
}

test('a member of etcd needs nothing but etcd', () => {
  expect(hint('etcd1', 'firewalld')).toBe(
    'firewall-cmd --permanent --add-port=2379/tcp --add-port=2380/tcp && firewall-cmd --reload',
  )
})

test('a worker is asked by the API, sends packets of pods, and passes them on', () => {
  expect(hint('w1', 'ufw')).toBe(
    [
      'ufw allow 10250/tcp',
      'ufw allow 4789/udp',
      'ufw allow from 10.244.0.0/16',
      'ufw route allow from 10.244.0.0/16',
      'ufw route allow to 10.244.0.0/16',
    ].join(' && '),
  )
})

test('a control plane has its settings of cluster.yml', () => {
  const spec = ['api: { port: 8443 }', 'network: { flannel: { backend: host-gw } }']
  expect(hint('cp1', 'firewalld', spec, defaultHostLines.slice(0, 1))).toBe(
    [
      'firewall-cmd --permanent --add-port=2379/tcp --add-port=2380/tcp --add-port=8443/tcp --add-port=10250/tcp',
      'firewall-cmd --permanent --zone=trusted --add-source=10.244.0.0/16',
      'firewall-cmd --reload',
    ].join(' && '),
  )
})
