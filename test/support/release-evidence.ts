import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const file = join(import.meta.dirname, '../../docs/evidence/release.md')

export interface ReleaseFigures {
  readonly version: string
  /** Content of SHA256SUMS, the same in both builds. */
  readonly checksums: string
  /** Duration of each build. */
  readonly seconds: readonly number[]
  /** One sentence for each test that has passed. */
  readonly passed: readonly string[]
}

/** Writes the report about a release that was built twice. */
export async function writeReleaseEvidence(figures: ReleaseFigures): Promise<void> {
  const { version, checksums, seconds, passed } = figures
  const rows = checksums
    .trim()
    .split('\n')
    .map((line) => {
      const [sha256 = '', name = ''] = line.split('  ')
      return `| \`${name}\` | \`${sha256.slice(0, 16)}\` |`
    })
  await writeFile(
    file,
    `# A release, built twice

Written by \`npm run e2e:full -- test/full/release.test.ts\` on ${new Date().toISOString().slice(0, 10)}: hyperkube ${version}. Two clones of one commit in two
directories of one machine, one after the other. The builds took ${seconds.map((one) => one.toFixed(0)).join(' and ')} s on two cores.

${passed.map((text) => `- ${text}`).join('\n')}

In CI, \`test/host/release.test.ts\` checks every file tampered with, \`install.sh\` with minisign and with openssl, and rpm install, verify and erase, with a
small program in place of the executable. \`test/full/cosign.test.ts\` signs and verifies the checksums with a key of cosign. \`npm audit\` got no
answer: the registry that was available here refuses its requests (405).

Not run: macOS executables (only their format was checked), the Windows executable (Node 24 does not start in Wine 8), a build on another
machine or Debian version, rpm packages on a distribution that uses them, and the arm64 executable on real hardware.

| file | SHA-256, first 16 digits |
|---|---|
${rows.join('\n')}
`,
  )
}
