import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildListArguments, buildRunArguments } from './arguments.ts'
import { findNeededImage, parseTestNames, selectTests, testsByImage } from './select.ts'
import { readSuite } from './suite.ts'

const suite = readSuite(readFileSync(join(import.meta.dirname, 'testdata/suite.json'), 'utf8'))
const dns = '[sig-network] DNS should provide DNS for the cluster [Conformance]'
const collector =
  '[sig-api-machinery] Garbage collector should not be blocked by dependency circle [Conformance]'

describe('the list of tests', () => {
  test('contains all tests, marks the chosen ones and omits setup nodes', () => {
    expect(suite.description).toBe('Kubernetes e2e suite')
    expect(suite.tests.map(({ name, chosen }) => `${chosen ? '*' : ' '} ${name}`)).toMatchInlineSnapshot(`
      [
        "* [sig-api-machinery] Garbage collector should not be blocked by dependency circle [Conformance]",
        "* [sig-cli] Kubectl client Kubectl version should check is all data is printed [Conformance]",
        "* [sig-network] DNS should provide DNS for the cluster [Conformance]",
        "  [sig-network] DNS should provide DNS for the cluster [Provider:gce]",
        "* [sig-node] ConfigMap should be consumable as environment variable names with various prefixes [Conformance]",
        "* [sig-storage] Projected secret optional updates should be reflected in volume [Conformance] [NodeConformance]",
        "* [sig-storage] Secrets should be immutable if \`immutable\` field is set [Conformance]",
        "  [sig-windows] Services should be able to create a functioning NodePort service for Windows",
      ]
    `)
  })

  test.each(['', '[]', '{}', '[{"SuiteDescription":"x"}]'])('is refused if it is invalid: %j', (text) => {
    expect(() => readSuite(text)).toThrow(expect.objectContaining({ code: 'CONFORMANCE_NOT_LISTED' }))
  })
})

describe('the selection of tests', () => {
  test('contains the tests that match, or the given names', () => {
    expect(selectTests(suite, { withoutImages: [] }).chosen).toHaveLength(6)
    expect(selectTests(suite, { only: [dns], withoutImages: [] })).toEqual({ chosen: [dns], leftOut: [] })
  })

  test('leaves out tests whose image is not available, with the reason', () => {
    const { chosen, leftOut } = selectTests(suite, { withoutImages: ['nginx', 'glibc-dns-testing'] })
    expect(chosen).toHaveLength(4)
    expect(leftOut).toEqual([
      { name: collector, why: 'the image nginx is not available' },
      { name: dns, why: 'the image glibc-dns-testing is not available' },
    ])
  })

  test('refuses an unknown test name', () => {
    const only = [dns.replace('cluster', 'clusters'), 'x']
    expect(() => selectTests(suite, { only, withoutImages: [] })).toThrow(
      expect.objectContaining({
        code: 'CONFORMANCE_UNKNOWN_TEST',
        message: expect.stringContaining('clusters'),
        hint: `did you mean ${dns}?`,
      }),
    )
  })

  test('is read from a file without comments', () => {
    expect(parseTestNames('# quick ones\n\n  a b [Conformance]\r\nc\n#d\n')).toEqual([
      'a b [Conformance]',
      'c',
    ])
  })

  test('needs no image for a test without special images', () => {
    const images = Object.keys(testsByImage)
    expect(findNeededImage('[sig-node] Pods should get a host IP [Conformance]', images)).toBeUndefined()
  })
})

describe('arguments of the suite', () => {
  const paths = {
    kubeconfig: '/k',
    kubectl: '/kubectl',
    report: '/r',
    scratch: '/s',
    domain: 'cluster.local',
  }
  const patterns = (names: readonly string[]): RegExp[] =>
    buildRunArguments(paths, suite.description, names)
      .filter((word) => word.startsWith('--ginkgo.focus='))
      .map((word) => new RegExp(word.slice('--ginkgo.focus='.length)))

  test('match exactly the tests to run', () => {
    const names = suite.tests.map(({ name }) => name)
    for (const name of names) {
      const fits = (other: string): boolean =>
        patterns([name]).some((pattern) => pattern.test(`${suite.description} ${other}`))
      expect(names.filter(fits)).toEqual([name])
      expect(fits(`${name} [More]`)).toBe(false)
    }
  })

  test('stay below the size limit for 1200 tests', () => {
    const names = Array.from({ length: 1200 }, (_, index) => `[sig-test] number ${index} ${'x'.repeat(100)}`)
    const all = patterns(names)
    expect(all.length).toBeGreaterThan(1)
    expect(Math.max(...all.map(({ source }) => source.length))).toBeLessThan(128_000)
    const some = names.filter((_, index) => index % 300 === 0)
    expect(some.filter((name) => all.some((one) => one.test(`${suite.description} ${name}`)))).toEqual(some)
  })

  test('name the kubeconfig file, and listing needs no cluster', () => {
    expect(buildRunArguments(paths, 's', ['a'])).toContain('--kubeconfig=/k')
    expect(buildListArguments('/f', { focus: 'a', skip: undefined })).toEqual([
      '--ginkgo.dry-run',
      '--ginkgo.succinct',
      '--ginkgo.no-color',
      '--ginkgo.json-report=/f',
      '--ginkgo.focus=a',
    ])
  })
})
