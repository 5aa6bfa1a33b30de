import { expect, test } from 'vitest'
import { commandIn, lineOf, namedBy, names, type Told } from './heal-doctor.ts'

const row = { codes: ['HEALTH_NO_ANSWER'], component: 'etcd' }
const finding = { code: 'HEALTH_NO_ANSWER', message: 'no answer in 5 s', host: 'cp1', component: 'etcd' }
const other = { code: 'NODE_NOT_READY', message: 'w1 is not ready' }
const told = (began: number, ...findings: Told['findings']): Told => ({ began, ended: began + 2, findings })

test('a fault is named by its code, of the component and the host that have it', () => {
  expect(names(row, 'cp1', finding)).toBe(true)
  expect(names(row, 'cp2', finding)).toBe(false)
  expect(names({ ...row, anywhere: true }, 'cp2', finding)).toBe(true)
  expect(names(row, 'cp1', { ...finding, component: 'kubelet' })).toBe(false)
  expect(names(row, 'cp1', other)).toBe(false)
})

test('whoever asked while it was known must have been told of it first', () => {
  const span = { host: 'cp1', from: 10, to: 20 }
  expect(namedBy(row, span, [told(11, finding, other)])).toBe('first')
  expect(namedBy(row, span, [told(11, other, finding), told(14, finding)])).toBe('first')
  expect(namedBy(row, span, [told(11, other, finding)])).toBe('not first')
  expect(namedBy(row, span, [told(11)])).toBe('not first')
  expect(namedBy(row, span, [told(5), told(19)])).toBe('too soon')
  expect(namedBy({ codes: [] }, span, [told(11)])).toBe('not needed')
})

test('a line says where it is, unless its words do', () => {
  expect(lineOf(finding)).toBe('HEALTH_NO_ANSWER: cp1 etcd: no answer in 5 s')
  expect(lineOf(other)).toBe('NODE_NOT_READY: w1 is not ready')
})

test('what to type is a command of ours, and nobody is asked again', () => {
  expect(commandIn('hyperkube certs renew w1')).toEqual(['certs', 'renew', 'w1', '--yes'])
  expect(commandIn(' hyperkube up --yes ')).toEqual(['up', '--yes'])
  expect(() => commandIn('rm -rf /')).toThrow('nobody can type')
})
