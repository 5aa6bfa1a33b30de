import { expect, test } from 'vitest'
import { renderFlagsFile } from './flags-file.ts'
import {
  type FlagKind,
  parseFlagKind,
  type PartFlags,
  parseHelpFlags,
  selectPartsWithFlags,
} from './flags.ts'
import { formatPartId } from './parts.ts'

test('flags are read from the help texts of pflag, Go and etcd programs', () => {
  const pflag = `Logs flags:

      --log-text-split-stream   [Alpha] In text format
                --not-a-flag-but-a-text
  -v, --v Level                 number for the log level verbosity
`
  const go = '  -ip-masq\n    \tsetup IP masquerade rule\n  -log_backtrace_at value\n'
  const etcd = "  --name 'default'\n    Human-readable name\n  etcd --config-file\n  etcd -h | --help\n"
  expect(parseHelpFlags(pflag)).toEqual(['log-text-split-stream', 'v'])
  expect(parseHelpFlags(go)).toEqual(['ip-masq', 'log_backtrace_at'])
  expect(parseHelpFlags(etcd)).toEqual(['name', 'config-file', 'h'])
})

test.each([
  ['', 'value'],
  ['invalid argument "" for "--max-pods" flag: strconv.ParseInt: parsing "": invalid syntax', 'value'],
  [
    'invalid argument "" for "--anonymous-auth" flag: strconv.ParseBool: parsing "": invalid syntax',
    'boolean',
  ],
  ['invalid boolean value "" for -ip-masq: parse error\nUsage: flanneld', 'boolean'],
  ['Error: unknown flag: --nonsense', undefined],
  ['flag provided but not defined: -nonsense\nUsage: flanneld', undefined],
])('%j means that the kind of a flag is %s', (stderr, kind) => {
  expect(parseFlagKind(stderr)).toBe(kind)
})

const toFlags = (programs: Readonly<Record<string, Readonly<Record<string, FlagKind>>>>): PartFlags =>
  new Map(Object.entries(programs).map(([program, flags]) => [program, new Map(Object.entries(flags))]))

test('a flags file has a base minor and the changes of later minors', () => {
  const versions = [
    {
      version: 'v3.10.1',
      flags: toFlags({ etcd: { name: 'value', 'pre-vote': 'value', wal: 'value' }, proxy: { v: 'value' } }),
    },
    {
      version: 'v3.9.3',
      flags: toFlags({
        etcd: { name: 'value', 'pre-vote': 'boolean', 'wal-dir': 'value' },
        proxy: { v: 'value' },
      }),
    },
  ]
  expect(renderFlagsFile('etcd', versions)).toEqual({
    path: 'src/catalog/flags/etcd.ts',
    text: `import type { FlagTable } from '../program-flags.ts'

/** Made by npm run flags from the programs of etcd 3.9.3, 3.10.1; do not edit. */
export const etcdFlagTable = {
  base: {
    minor: '3.9',
    flags: {
      etcd: {
        name: 'value',
        'pre-vote': 'boolean',
        'wal-dir': 'value',
      },
      proxy: {
        v: 'value',
      },
    },
  },
  changes: [
    {
      minor: '3.10',
      programs: {
        etcd: {
          added: {
            wal: 'value',
          },
          changed: {
            'pre-vote': 'value',
          },
          removed: {
            'wal-dir': 'value',
          },
        },
      },
    },
  ],
} as const satisfies FlagTable
`,
  })
})

test('a part with one version has no changes', () => {
  const { text } = renderFlagsFile('flannel', [{ version: 'v0.28.7', flags: toFlags({ flanneld: {} }) }])
  expect(text).toContain('\n  changes: [],\n')
})

test('flags are read from one patch of every minor, for Linux', () => {
  expect(selectPartsWithFlags().map(formatPartId).toSorted()).toEqual([
    'etcd@v3.5.35',
    'etcd@v3.6.16',
    'etcd@v3.7.3',
    'flannel@v0.28.7',
    'kube-router@v2.10.0',
    'kubernetes@v1.32.5',
    'kubernetes@v1.33.13',
    'kubernetes@v1.34.10',
    'kubernetes@v1.35.8',
    'kubernetes@v1.36.4',
    'kubernetes@v1.37.1',
  ])
})
