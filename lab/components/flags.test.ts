import { expect, test } from 'vitest'
import { renderFlagsFile } from './flags-file.ts'
import { type FlagKind, parseFlagKind, type PartFlags, parseHelpFlags } from './flags.ts'
import { selectParts } from './parts.ts'

test('flags are found in the help texts of all kinds of programs', () => {
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
])('%j means %s', (stderr, kind) => {
  expect(parseFlagKind(stderr)).toBe(kind)
})

test('a file of flags is formatted as the formatter does', () => {
  const [part] = selectParts(['etcd@v3.7.3'])
  const flags: PartFlags = new Map<string, ReadonlyMap<string, FlagKind>>([
    [
      'etcd',
      new Map<string, FlagKind>([
        ['name', 'value'],
        ['pre-vote', 'boolean'],
      ]),
    ],
    ['kube-proxy', new Map<string, FlagKind>([['v', 'value']])],
  ])
  expect(part && renderFlagsFile(part, flags)).toEqual({
    path: 'src/catalog/flags/etcd-3-7.ts',
    text: `import type { ProgramFlags } from '../program-flags.ts'

/** Made by npm run flags from the programs of etcd 3.7.3; do not edit. */
export const etcd_3_7 = {
  etcd: {
    name: 'value',
    'pre-vote': 'boolean',
  },
  'kube-proxy': {
    v: 'value',
  },
} as const satisfies ProgramFlags
`,
  })
})
