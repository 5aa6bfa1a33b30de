import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isMinisignKey } from '../src/kit/minisign.ts'
import { buildExecutable } from './executable.ts'
import { targets } from './executable/runtime.ts'
import { assembleRelease } from './release/assemble.ts'
import { formatPublicKey, parseSecretKey } from './release/minisign.ts'
import { readReleaseSource } from './release/source.ts'

const usage = `Usage: npm run release -- --key FILE | --public-key KEY [options]

Makes all files of a release from the tagged commit.

  --key FILE         secret key of minisign without a password (minisign -G -W)
  --public-key KEY   repeat a release without its secret key: the same files without a signature
  --output DIR       empty directory for the files (default: dist/release)
  --url URL          directory of the release on the web; executables contain it
  --repository URL   address of the repository, for the provenance
  --builder ID       who runs the build, for the provenance (default: local)
  --target NAME      build only this executable; can be repeated
  --allow-untagged   make a test release from any commit
`

/** Makes a release. The same commit, options and key always give the same files. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      key: { type: 'string' },
      'public-key': { type: 'string' },
      output: { type: 'string', default: 'dist/release' },
      url: { type: 'string' },
      repository: { type: 'string', default: 'unknown' },
      builder: { type: 'string', default: 'local' },
      target: { type: 'string', multiple: true, default: Object.keys(targets) },
      'allow-untagged': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const key = values.key === undefined ? undefined : parseSecretKey(await readFile(values.key, 'utf8'))
  const publicKey = key === undefined ? values['public-key'] : formatPublicKey(key)
  if (values.help || publicKey === undefined) {
    process.stderr.write(usage)
    process.exitCode = values.help ? 0 : 2
    return
  }
  if (!isMinisignKey(publicKey)) throw new Error(`${publicKey} is not a public key of minisign`)
  const source = await readReleaseSource(join(import.meta.dirname, '..'), values['allow-untagged'])
  const directory = resolve(values.output)
  await mkdir(directory, { recursive: true })
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty`)
  const onStep = (title: string): void => void process.stderr.write(`${title}\n`)
  const executables: string[] = []
  for (const name of values.target) {
    onStep(`executable for ${name}`)
    executables.push(await buildExecutable(name, directory))
  }
  const { url, repository, builder } = values
  const options = { source, directory, executables, publicKey, key, url, repository, builder, onStep }
  await assembleRelease(options)
  process.stdout.write(`${directory}\npublic key: ${publicKey}\n`)
}

if (import.meta.main) await main()
