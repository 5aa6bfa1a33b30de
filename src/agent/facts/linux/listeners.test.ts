import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { listPids, parseSockets, readListeners, toProgramName } from './listeners.ts'

const heading =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'

function socket(local: string, state: string, inode: number): string {
  return `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`
}

const host = createFakeFactSource({
  files: {
    '/proc/net/tcp': [
      heading,
      socket('0100007F:18EB', '0A', 11),
      socket('0100007F:18EB', '01', 12),
      socket('00000000:0016', '0A', 13),
      socket('3500007F:0035', '0A', 14),
      socket('00000000:0801', '0A', 0),
    ].join(''),
    '/proc/net/tcp6': `${heading}${socket('00000000000000000000000000000000:0016', '0A', 15)}`,
  },
  links: {
    '/proc/1/fd/40': 'socket:[13]',
    '/proc/1/fd/41': 'socket:[15]',
    '/proc/1/exe': '/usr/lib/systemd/systemd',
    '/proc/812/fd/3': 'socket:[13]',
    '/proc/812/fd/4': 'socket:[15]',
    '/proc/812/exe': '/usr/sbin/sshd',
    '/proc/90/fd/5': 'anon_inode:[eventpoll]',
    '/proc/90/fd/7': 'socket:[11]',
    '/proc/90/exe': '/opt/old/kube-controller-manager (deleted)',
    '/proc/self/fd/7': 'socket:[14]',
  },
})

test('listening ports are reported with the full name of the program', async () => {
  expect(await readListeners(host)).toEqual([
    { port: 22, process: 'sshd' },
    // Sockets of the kernel, or of a process in another namespace, have no visible owner.
    { port: 53 },
    { port: 2049 },
    { port: 6379, process: 'kube-controller-manager' },
  ])
})

test('ports of open connections are not listeners', () => {
  expect(parseSockets(`${heading}${socket('0B01D20A:0016', '01', 1)}`)).toEqual([])
  expect(parseSockets('')).toEqual([])
})

test('process 1 is read last, because it passes sockets to services', () => {
  expect(listPids(['1', '10', '9', 'self', 'net'])).toEqual(['9', '10', '1'])
})

test('a program name has no directory and no deleted marker', () => {
  expect(toProgramName('/usr/bin/python3.11')).toBe('python3.11')
  expect(toProgramName('/opt/hyperkube/etcd-3.7.3/etcd (deleted)')).toBe('etcd')
})
