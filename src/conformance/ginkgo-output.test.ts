import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import {
  advanceSuiteProgress,
  startSuiteProgress,
  type SuiteProgress,
  findSuiteProblems,
} from './progress.ts'
import { conformanceReportFormat, buildConformanceReport } from './report.ts'
import { readSuite } from './suite.ts'
import { GinkgoOutputParser } from './ginkgo-output.ts'

const testdata = (name: string): string => readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8')
const names = readSuite(testdata('suite.json')).tests.map(({ name }) => name)
const began = new Date('2026-11-15T12:00:00Z')

function readProgress(text: string, chosen = names.slice(0, 4)): SuiteProgress {
  const parser = new GinkgoOutputParser(names)
  const events = [...text.split('\n').flatMap((line) => parser.readLine(line)), ...parser.finish()]
  return events.reduce(
    (suiteProgress, event) => advanceSuiteProgress(suiteProgress, event, began),
    startSuiteProgress(chosen, began),
  )
}

const files = { log: 'l', junit: 'j', report: 'r' }
const metadata = { cluster: 'lab', files, hyperkube: '0.0.0', suite: 'v1.37.1' }
const ended = new Date(began.getTime() + 620_000)
const passingOutput = testdata('run.txt')
  .replace(/^\[sig-node\] ConfigMap should[^]*?(?=^\[SynchronizedAfterSuite\])/m, '')
  .replace(/^FAIL! .*$/m, 'SUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 3205 Skipped')
const immutable = names.find((name) => name.includes('immutable')) ?? ''

describe('output of the suite', () => {
  test('gives the result of each test, whatever the tests print', () => {
    const { results, server, counted, problems } = readProgress(testdata('run.txt'))
    expect({ server, counted, problems }).toEqual({
      server: 'v1.37.1',
      counted: { processes: 1, passed: 1, failed: 2 },
      problems: [],
    })
    expect(results).toMatchInlineSnapshot(`
      [
        {
          "name": "[sig-storage] Secrets should be immutable if \`immutable\` field is set [Conformance]",
          "outcome": "passed",
          "reason": [],
          "seconds": 0.113,
        },
        {
          "name": "[sig-node] ConfigMap should be consumable as environment variable names with various prefixes [Conformance]",
          "outcome": "failed",
          "reason": [
            "expected "data-1=value-1" in container output: Expected",
            "    <string>: KUBERNETES_SERVICE_PORT=443",
            "    KUBERNETES_PORT=tcp://10.96.0.1:443",
            "    HOSTNAME=pod-configmaps-6834c09c-99d7-4dde-940b-c5d1860a382a",
            "    SHLVL=1",
            "    HOME=/root",
            "    KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1",
            "    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "    KUBERNETES_PORT_443_TCP_PORT=443",
            "    KUBERNETES_PORT_443_TCP_PROTO=tcp",
            "    KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443",
            "    KUBERNETES_SERVICE_PORT_HTTPS=443",
            "    KUBERNETES_SERVICE_HOST=10.96.0.1",
            "    PWD=/",
            "to contain substring",
            "    <string>: data-1=value-1",
          ],
          "seconds": 5.021,
        },
        {
          "name": "[sig-windows] Services should be able to create a functioning NodePort service for Windows",
          "outcome": "skipped",
          "reason": [
            "Only supported for node OS distro [windows] (not debian)",
          ],
          "seconds": 0,
        },
        {
          "name": "[sig-storage] Projected secret optional updates should be reflected in volume [Conformance] [NodeConformance]",
          "outcome": "interrupted",
          "reason": [
            "Interrupted by User",
          ],
          "seconds": 32.017,
        },
      ]
    `)
  })

  test('gives the problem that prevented the tests from running', () => {
    const { results, problems } = readProgress(testdata('no-cluster.txt'))
    expect(results).toEqual([])
    expect(problems).toMatchInlineSnapshot(`
      [
        "SynchronizedBeforeSuite failed
      Get "https://127.0.0.1:1/api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse&resourceVersion=0": dial tcp 127.0.0.1:1: connect: connection refused",
      ]
    `)
  })

  test('gives the running test', () => {
    const [output = ''] = testdata('run.txt').split('• [0.113')
    expect(readProgress(output).running.map(({ test: name }) => name)).toEqual([immutable])
  })
})

describe('a report', () => {
  test('has the outcome passed if all tests passed', () => {
    const suiteProgress = readProgress(passingOutput, [immutable])
    const report = buildConformanceReport(
      { suiteProgress, leftOut: [], code: 0, ended, isInterrupted: false },
      metadata,
    )
    expect(report).toMatchObject({
      outcome: 'passed',
      seconds: 620,
      versions: { kubernetes: 'v1.37.1' },
      counts: { chosen: 1, ran: 1, passed: 1, failed: 0, skipped: 0, leftOut: 0 },
      tests: [{ name: immutable, outcome: 'passed', seconds: 0.113 }],
    })
    expect(readVersioned(conformanceReportFormat, JSON.parse(JSON.stringify(report)))).toEqual(report)
  })

  test.each([
    ['a failed test', testdata('run.txt'), 1],
    ['a suite that did not start', testdata('no-cluster.txt'), 1],
    ['a nonzero exit code', passingOutput, 1],
    ['a different count of passed tests', passingOutput.replace('1 Passed', '2 Passed'), 0],
    ['no summary line', passingOutput.replace(/^SUCCESS.*$/m, ''), 0],
    ['no test', passingOutput.replace(/^\[sig-storage\].*$/m, ''), 0],
  ])('has the outcome failed with %s', (_, text, code) => {
    const suiteProgress = readProgress(text, [immutable])
    const report = buildConformanceReport(
      { suiteProgress, leftOut: [], code, ended, isInterrupted: false },
      metadata,
    )
    expect(report.outcome).toBe('failed')
    expect(report.problems.length + report.counts.failed).toBeGreaterThan(0)
  })

  test('of an interrupted run lists the tests that did not run', () => {
    const suiteProgress = readProgress(testdata('run.txt'), names)
    const report = buildConformanceReport(
      { suiteProgress, leftOut: [{ name: 'x', why: 'y' }], code: 1, ended, isInterrupted: true },
      metadata,
    )
    expect(report.outcome).toBe('interrupted')
    expect(report.leftOut.map(({ why }) => why)).toEqual([
      'y',
      ...Array.from({ length: 4 }, () => 'the run ended early'),
    ])
    expect(report.counts).toEqual({ chosen: 8, ran: 3, passed: 1, failed: 2, skipped: 1, leftOut: 5 })
  })

  test('names a nonzero exit code without a failed test', () => {
    expect(findSuiteProblems(readProgress(passingOutput), 2)).toEqual([
      'e2e.test ended with exit code 2, although no test failed',
    ])
  })
})
