const peOffsetField = 0x3c
const pe32Plus = 0x20b
/** Position of the entry for certificates in the optional header of a 64-bit program. */
const certificateEntry = 112 + 4 * 8
const checksumField = 64

/**
 * Removes the Authenticode signature of a Windows program. A signature that does not match the content is
 * worse than none, because Windows reports such a program as damaged.
 */
export function removeAuthenticode(program: Buffer): Buffer {
  const header = program.readUInt32LE(peOffsetField) + 24
  if (program.readUInt16LE(header) !== pe32Plus) throw new Error('not a 64-bit Windows program')
  const offset = program.readUInt32LE(header + certificateEntry)
  const size = program.readUInt32LE(header + certificateEntry + 4)
  if (offset === 0) return program
  if (offset + size !== program.length) throw new Error('the signature is not at the end of the program')
  const unsigned = Buffer.from(program.subarray(0, offset))
  unsigned.fill(0, header + certificateEntry, header + certificateEntry + 8)
  // Zero means that the program has no checksum. Only drivers need one.
  unsigned.writeUInt32LE(0, header + checksumField)
  return unsigned
}
