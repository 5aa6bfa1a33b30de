import { createHash } from 'node:crypto'

const magic64 = 0xfeedfacf
const headerBytes = 32
const segmentCommand = 0x19
const signatureCommand = 0x1d
const pageBytes = 4096

interface LoadCommand {
  readonly type: number
  /** Position in the file. */
  readonly start: number
  readonly size: number
}

/**
 * Adds an ad-hoc signature to a macOS program, or replaces its signature. Apple Silicon runs only signed
 * programs. An ad-hoc signature contains hashes of all pages, and no identity. The bytes are the same as those
 * of Go's linker.
 */
export function signMachO(program: Buffer, identifier: string): Buffer {
  if (program.readUInt32LE(0) !== magic64) throw new Error('not a 64-bit macOS program')
  const commands = listCommands(program)
  const existing = commands.find(({ type }) => type === signatureCommand)
  const unsignedBytes = existing === undefined ? program.length : program.readUInt32LE(existing.start + 8)
  const codeBytes = Math.ceil(unsignedBytes / 16) * 16
  const signatureBytes = measureSignature(codeBytes, identifier)
  const signed = Buffer.alloc(codeBytes + signatureBytes)
  program.copy(signed, 0, 0, unsignedBytes)
  const command = existing?.start ?? addCommand(signed, commands)
  signed.writeUInt32LE(codeBytes, command + 8)
  signed.writeUInt32LE(signatureBytes, command + 12)
  const linkEdit = findSegment(signed, commands, '__LINKEDIT')
  const fileOffset = Number(signed.readBigUInt64LE(linkEdit + 40))
  const linkEditBytes = signed.length - fileOffset
  signed.writeBigUInt64LE(BigInt(linkEditBytes), linkEdit + 48)
  if (BigInt(linkEditBytes) > signed.readBigUInt64LE(linkEdit + 32)) {
    const memoryPageBytes = 0x4000
    const memoryBytes = Math.ceil(linkEditBytes / memoryPageBytes) * memoryPageBytes
    signed.writeBigUInt64LE(BigInt(memoryBytes), linkEdit + 32)
  }
  const text = findSegment(signed, commands, '__TEXT')
  writeSignature(signed, codeBytes, identifier, {
    base: signed.readBigUInt64LE(text + 40),
    limit: signed.readBigUInt64LE(text + 48),
  })
  return signed
}

function listCommands(program: Buffer): readonly LoadCommand[] {
  const count = program.readUInt32LE(16)
  const commands: LoadCommand[] = []
  for (let start = headerBytes; commands.length < count;) {
    const [type, size] = [program.readUInt32LE(start), program.readUInt32LE(start + 4)]
    commands.push({ type, start, size })
    start += size
  }
  return commands
}

function findSegment(program: Buffer, commands: readonly LoadCommand[], name: string): number {
  const found = commands.find(
    ({ type, start }) =>
      type === segmentCommand &&
      program.toString('latin1', start + 8, start + 24).replaceAll('\0', '') === name,
  )
  if (found === undefined) throw new Error(`the program has no segment ${name}`)
  return found.start
}

/** Adds the command that locates the signature, in the gap between the commands and the first section. */
function addCommand(program: Buffer, commands: readonly LoadCommand[]): number {
  const start = commands.reduce((end, command) => Math.max(end, command.start + command.size), headerBytes)
  const size = 16
  if (program.subarray(start, start + size).some((byte) => byte !== 0))
    throw new Error('the program has no space for a signature command')
  program.writeUInt32LE(signatureCommand, start)
  program.writeUInt32LE(size, start + 4)
  program.writeUInt32LE(program.readUInt32LE(16) + 1, 16)
  program.writeUInt32LE(program.readUInt32LE(20) + size, 20)
  return start
}

const superBlobBytes = 20
const directoryBytes = 88
const hashBytes = 32

function measureSignature(codeBytes: number, identifier: string): number {
  const pages = Math.ceil(codeBytes / pageBytes)
  return superBlobBytes + directoryBytes + identifier.length + 1 + pages * hashBytes
}

/** Writes a superblob with one code directory. Its numbers are big-endian. */
function writeSignature(
  program: Buffer,
  codeBytes: number,
  identifier: string,
  text: { readonly base: bigint; readonly limit: bigint },
): void {
  const pages = Math.ceil(codeBytes / pageBytes)
  const signature = program.subarray(codeBytes)
  const hashOffset = directoryBytes + identifier.length + 1
  const superBlob = [0xfade0cc0, signature.length, 1, 0, superBlobBytes]
  const adHocLinkerSigned = 0x20002
  const directory = [
    0xfade0c02,
    signature.length - superBlobBytes,
    0x20400,
    adHocLinkerSigned,
    hashOffset,
    directoryBytes,
    0,
    pages,
    codeBytes,
  ]
  for (const [index, value] of [...superBlob, ...directory].entries())
    signature.writeUInt32BE(value, index * 4)
  // Size of a hash, SHA-256, platform, and the size of a page as a power of two.
  signature.set([hashBytes, 2, 0, 12], superBlobBytes + 36)
  const mainProgram = 1n
  for (const [index, value] of [0n, text.base, text.limit, mainProgram].entries())
    signature.writeBigUInt64BE(value, superBlobBytes + 56 + index * 8)
  signature.write(identifier, superBlobBytes + directoryBytes, 'latin1')
  for (let page = 0; page < pages; page++) {
    const content = program.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, codeBytes))
    signature.set(
      createHash('sha256').update(content).digest(),
      superBlobBytes + hashOffset + page * hashBytes,
    )
  }
}
