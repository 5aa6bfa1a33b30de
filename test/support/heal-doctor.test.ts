import { expect, test } from 'vitest'
import { parseCommand, formatFinding, rateNaming, matchesFault, type DoctorReport } from './heal-doctor.ts'

const row = { codes: ['HEALTH_NO_RESPONSE'], component: 'etcd' }
const finding = { code: 'HEALTH_NO_RESPONSE', message: 'no answer in 5 s', host: 'cp1', component: 'etcd' }
const other = { code: 'NODE_NOT_READY', message: 'w1 is not ready' }
const createReport = (began: number, ...findings: DoctorReport['findings']): DoctorReport => ({
  began,
  ended: began + 2,
  findings,
})

test('a finding matches a fault by code, component and host', () => {
  expect(matchesFault(row, 'cp1', finding)).toBe(true)
  expect(matchesFault(row, 'cp2', finding)).toBe(false)
  expect(matchesFault({ ...row, onAnyHost: true }, 'cp2', finding)).toBe(true)
  expect(matchesFault(row, 'cp1', { ...finding, component: 'kubelet' })).toBe(false)
  expect(matchesFault(row, 'cp1', other)).toBe(false)
})

test('a report during a known fault must name it first', () => {
  const span = { host: 'cp1', from: 10, to: 20 }
  expect(rateNaming(row, span, [createReport(11, finding, other)])).toBe('first')
  expect(rateNaming(row, span, [createReport(11, other, finding), createReport(14, finding)])).toBe('first')
  expect(rateNaming(row, span, [createReport(11, other, finding)])).toBe('not first')
  expect(rateNaming(row, span, [createReport(11)])).toBe('not first')
  expect(rateNaming(row, span, [createReport(5), createReport(19)])).toBe('too soon')
  expect(rateNaming({ codes: [] }, span, [createReport(11)])).toBe('not needed')
})

test('a formatted finding names host and component unless the message does', () => {
  expect(formatFinding(finding)).toBe('HEALTH_NO_RESPONSE: cp1 etcd: no answer in 5 s')
  expect(formatFinding(other)).toBe('NODE_NOT_READY: w1 is not ready')
})

test('the command of a finding is parsed and gets --yes', () => {
  expect(parseCommand('hyperkube certs renew w1')).toEqual(['certs', 'renew', 'w1', '--yes'])
  expect(parseCommand(' hyperkube up --yes ')).toEqual(['up', '--yes'])
  expect(() => parseCommand('rm -rf /')).toThrow('is not a hyperkube command')
})
