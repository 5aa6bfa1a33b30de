import { expect, test } from 'vitest'
import { buildNotFoundError, parseHostDatabases, parseDatabaseTime } from './database-source.ts'

test('databases of a host are sorted by the times in their names, oldest first', () => {
  const text = [
    '2048 1794830460.1234567890 etcd-2026-11-16T12-01-00Z.db',
    '1024 1794830400.0000000000 etcd-2026-11-16T12-00-00Z.db',
    '512 1794830520.5000000000 by-hand.db',
    '7 1794830520.5000000000 .etcd-2026-11-16T12-02-00Z.db.part',
    '',
  ].join('\n')
  expect(parseHostDatabases(text)).toEqual([
    { name: 'etcd-2026-11-16T12-00-00Z.db', size: 1024, taken: new Date('2026-11-16T12:00:00Z') },
    { name: 'etcd-2026-11-16T12-01-00Z.db', size: 2048, taken: new Date('2026-11-16T12:01:00Z') },
    { name: 'by-hand.db', size: 512, taken: new Date(1_794_830_520_000) },
  ])
  expect(parseHostDatabases('find: ‘/var/lib/hyperkube/snapshots’: No such file or directory\n')).toEqual([])
})

test('a database name without a valid time has no time', () => {
  expect(parseDatabaseTime('etcd-2026-13-99T12-00-00Z.db')).toBeUndefined()
  expect(parseDatabaseTime('backup.db')).toBeUndefined()
})

test('the hint about a host without databases needs no API, and names the other etcd hosts', () => {
  const missing = { host: 'cp1', fileName: undefined }
  expect(buildNotFoundError({ ...missing, others: ['cp2', 'cp3'] }, []).hint).toBe(
    'hosts back up etcd only with a schedule in spec.etcd.snapshots; try the other etcd hosts (cp2 and cp3): hyperkube etcd snapshot fetch cp2',
  )
  expect(buildNotFoundError({ ...missing, others: [] }, []).hint).toBe(
    'hosts back up etcd only with a schedule in spec.etcd.snapshots',
  )
})
