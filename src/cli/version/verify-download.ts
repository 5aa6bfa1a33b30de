import { basename, dirname, join } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'
import { isMinisignKey, verifyMinisign } from '../../kit/minisign.ts'
import type { CommandContext } from '../command/command.ts'

export interface VerifiedDownload {
  readonly file: string
  readonly sha256: string
  /** Signed comment: program, version, and a note if the release is only a test. */
  readonly release: string
}

const checksumFile = 'SHA256SUMS'
const signatureFile = `${checksumFile}.minisig`

/**
 * Verifies a file of a release: the signature of SHA256SUMS beside it, and then its checksum. Throws if the
 * file must not be used. `publicKey` replaces the key in this program.
 */
export async function verifyDownload(
  context: CommandContext,
  file: string,
  publicKey: string | undefined,
): Promise<VerifiedDownload> {
  const key = await selectKey(context, file, publicKey)
  const checksums = await read(beside(file, checksumFile), context.readFile)
  const signature = await read(beside(file, signatureFile), context.readFile)
  const release = verifyMinisign(Buffer.from(checksums), signature, key)
  if (release === undefined)
    throw buildError(file, `the signature ${beside(file, signatureFile)} is not valid for ${checksumFile}`)
  const sha256 = await read(file, async (path) => context.hashFile(path, context.signal))
  const name = basename(file)
  // The signature covers the checksums themselves.
  if (name === checksumFile || name === signatureFile) return { file, sha256, release }
  const expected = findChecksum(checksums, name)
  if (expected === undefined) throw buildError(file, `${checksumFile} of ${release} does not contain ${name}`)
  if (expected !== sha256)
    throw buildError(file, `SHA-256 of ${file} is ${sha256}, not ${expected} as in ${release}`)
  return { file, sha256, release }
}

async function selectKey(
  { readReleaseKey }: CommandContext,
  file: string,
  publicKey: string | undefined,
): Promise<string> {
  const key = publicKey ?? (await readReleaseKey())
  if (key !== undefined && isMinisignKey(key)) return key
  const problem =
    key === undefined ? 'this program contains no public key of releases' : `${key} is not a public key`
  throw new HyperkubeError('RELEASE_KEY_MISSING', problem, {
    hint: `hyperkube version --verify ${file} --public-key KEY`,
  })
}

/** Finds the checksum of a file in the output of sha256sum. */
function findChecksum(checksums: string, name: string): string | undefined {
  return checksums
    .split('\n')
    .find((line) => line.slice(64) === `  ${name}`)
    ?.slice(0, 64)
}

function beside(file: string, name: string): string {
  return join(dirname(file), name)
}

async function read(path: string, readContent: (path: string) => Promise<string>): Promise<string> {
  return readContent(path).catch((cause: unknown) => {
    throw new HyperkubeError('RELEASE_FILE_NOT_READ', `cannot read ${path}`, {
      hint: `download ${basename(path)} of the same release into ${dirname(path)}`,
      cause,
    })
  })
}

function buildError(file: string, problem: string): HyperkubeError {
  return new HyperkubeError('RELEASE_NOT_VERIFIED', problem, {
    hint: `do not use ${file}; download it again with ${checksumFile} and ${signatureFile}`,
  })
}
