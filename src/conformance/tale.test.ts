import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import { after, beginning, type Course, troublesOf } from './course.ts'
import { reportFormat, reportOf } from './report.ts'
import { readSuite } from './suite.ts'
import { SuiteTale } from './tale.ts'

const testdata = (name: string): string => readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8')
const names = readSuite(testdata('suite.json')).tests.map(({ name }) => name)
const began = new Date('2026-11-15T12:00:00Z')

function courseOf(text: string, chosen = names.slice(0, 4)): Course {
  const tale = new SuiteTale(names)
  const events = [...text.split('\n').flatMap((line) => tale.heard(line)), ...tale.over()]
  return events.reduce((course, event) => after(course, event, began), beginning(chosen, began))
}

const files = { log: 'l', junit: 'j', report: 'r' }
const about = { cluster: 'lab', files, hyperkube: '0.0.0', suite: 'v1.37.1' }
const ended = new Date(began.getTime() + 620_000)
const green = testdata('run.txt')
  .replace(/^\[sig-network\] DNS should[^]*?(?=^\[ReportAfterSuite\])/m, '')
  .replace(/^FAIL! .*$/m, 'SUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 3205 Skipped')
const host = names.find((name) => name.includes('host IP')) ?? ''

describe('what the suite tells', () => {
  test('is which tests ran and how they ended, whatever they print themselves', () => {
    const { results, server, counted, troubles } = courseOf(testdata('run.txt'))
    expect({ server, counted, troubles }).toEqual({
      server: 'v1.37.1',
      counted: { passed: 1, failed: 2 },
      troubles: [],
    })
    expect(results).toMatchInlineSnapshot(`
      [
        {
          "name": "[sig-node] Pods should get a host IP [Conformance] [NodeConformance]",
          "outcome": "passed",
          "reason": [],
          "seconds": 4.123,
        },
        {
          "name": "[sig-network] DNS should provide DNS for the cluster [Conformance]",
          "outcome": "failed",
          "reason": [
            "failed to read the results:",
            "    context deadline exceeded",
          ],
          "seconds": 602.517,
        },
        {
          "name": "[sig-cli] Kubectl client Kubectl version should check is all data is printed [Conformance]",
          "outcome": "skipped",
          "reason": [
            "requires a newer kubectl",
          ],
          "seconds": 0.051,
        },
        {
          "name": "[sig-apps] CronJob should not schedule jobs when suspended [Conformance] [Slow]",
          "outcome": "interrupted",
          "reason": [
            "Interrupted by User",
          ],
          "seconds": 7.3,
        },
      ]
    `)
  })

  test('is why nothing ran', () => {
    const { results, troubles } = courseOf(testdata('no-cluster.txt'))
    expect(results).toEqual([])
    expect(troubles).toMatchInlineSnapshot(`
      [
        "SynchronizedBeforeSuite has failed
      Get "https://127.0.0.1:1/api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse&resourceVersion=0": dial tcp 127.0.0.1:1: connect: connection refused",
      ]
    `)
  })

  test('is what runs now', () => {
    const [told = ''] = testdata('run.txt').split('• [4.123')
    expect(courseOf(told).current?.test).toBe(host)
  })
})

describe('a report', () => {
  test('is a success where all that ran has passed', () => {
    const course = courseOf(green, [host])
    const report = reportOf({ course, leftOut: [], code: 0, ended, isInterrupted: false }, about)
    expect(report).toMatchObject({
      outcome: 'passed',
      seconds: 620,
      versions: { kubernetes: 'v1.37.1' },
      counts: { chosen: 1, ran: 1, passed: 1, failed: 0, skipped: 0, leftOut: 0 },
      tests: [{ name: host, outcome: 'passed', seconds: 4.123 }],
    })
    expect(readVersioned(reportFormat, JSON.parse(JSON.stringify(report)))).toEqual(report)
  })

  test.each([
    ['a test that failed', testdata('run.txt'), 1],
    ['a suite that did not begin', testdata('no-cluster.txt'), 1],
    ['an exit code', green, 1],
    ['another count than ours', green.replace('1 Passed', '2 Passed'), 0],
    ['no count', green.replace(/^SUCCESS.*$/m, ''), 0],
    ['no test', green.replace(/^\[sig-node\].*$/m, ''), 0],
  ])('is none with %s', (_, text, code) => {
    const course = courseOf(text, [host])
    const report = reportOf({ course, leftOut: [], code, ended, isInterrupted: false }, about)
    expect(report.outcome).toBe('failed')
    expect(report.troubles.length + report.counts.failed).toBeGreaterThan(0)
  })

  test('of a run that was cut says what was not reached', () => {
    const course = courseOf(testdata('run.txt'), names)
    const report = reportOf(
      { course, leftOut: [{ name: 'x', why: 'y' }], code: 1, ended, isInterrupted: true },
      about,
    )
    expect(report.outcome).toBe('interrupted')
    expect(report.leftOut.map(({ why }) => why)).toEqual([
      'y',
      'the run ended before',
      'the run ended before',
      'the run ended before',
    ])
    expect(report.counts).toEqual({ chosen: 7, ran: 3, passed: 1, failed: 2, skipped: 1, leftOut: 4 })
  })

  test('says when the suite fails without a reason', () => {
    expect(troublesOf(courseOf(green), 2)).toEqual(['e2e.test ended with 2, though no test has failed'])
  })
})
