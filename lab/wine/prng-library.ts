/**
 * Library from which Go programs since 1.21 read random numbers, and which Wine 8 lacks. This module builds a
 * replacement without code: its only function forwards to an equivalent function of advapi32.dll.
 */
export const prngLibraryName = 'bcryptprimitives.dll'
const exportedFunction = 'ProcessPrng'
const forwardTarget = 'advapi32.SystemFunction036'

const fileAlignment = 0x200
const sectionAlignment = 0x1000
const optionalHeaderLength = 240

/**
 * Builds the library according to Microsoft's "PE Format": headers, and one section with the export table.
 */
export function buildPrngLibrary(): Buffer {
  const table = exportSection(sectionAlignment)
  const file = Buffer.alloc(2 * fileAlignment)
  file.write('MZ', 0, 'latin1')
  file.writeUInt32LE(0x40, 0x3c)
  file.write('PE\0\0', 0x40, 'latin1')
  const coff = 0x44
  file.writeUInt16LE(0x8664, coff)
  file.writeUInt16LE(1, coff + 2)
  file.writeUInt16LE(optionalHeaderLength, coff + 16)
  // Characteristics: executable image, large address aware, DLL.
  file.writeUInt16LE(0x2022, coff + 18)
  const optional = coff + 20
  file.writeUInt16LE(0x20b, optional)
  file.writeUInt32LE(fileAlignment, optional + 8)
  file.writeBigUInt64LE(0x1_8000_0000n, optional + 24)
  file.writeUInt32LE(sectionAlignment, optional + 32)
  file.writeUInt32LE(fileAlignment, optional + 36)
  // Minimum Windows version: 6.
  file.writeUInt16LE(6, optional + 40)
  file.writeUInt16LE(6, optional + 48)
  file.writeUInt32LE(2 * sectionAlignment, optional + 56)
  file.writeUInt32LE(fileAlignment, optional + 60)
  file.writeUInt16LE(3, optional + 68)
  // DLL characteristics: relocatable, NX compatible.
  file.writeUInt16LE(0x140, optional + 70)
  file.writeUInt32LE(16, optional + 108)
  file.writeUInt32LE(sectionAlignment, optional + 112)
  file.writeUInt32LE(table.length, optional + 116)
  const section = optional + optionalHeaderLength
  file.write('.rdata', section, 'latin1')
  file.writeUInt32LE(table.length, section + 8)
  file.writeUInt32LE(sectionAlignment, section + 12)
  file.writeUInt32LE(fileAlignment, section + 16)
  file.writeUInt32LE(fileAlignment, section + 20)
  file.writeUInt32LE(0x4000_0040, section + 36)
  file.set(table, fileAlignment)
  return file
}

/**
 * Builds the section with the export directory, one address, one name, one ordinal, and the strings. The
 * address points to a string inside the section, so Windows forwards calls to the function that the string
 * names.
 */
function exportSection(base: number): Buffer {
  const texts = Buffer.from([prngLibraryName, exportedFunction, forwardTarget, ''].join('\0'), 'latin1')
  const [addresses, names, numbers, start] = [40, 44, 48, 50]
  const addressOf = (text: string): number => base + start + texts.indexOf(text)
  const bytes = Buffer.alloc(start + texts.length)
  bytes.writeUInt32LE(addressOf(prngLibraryName), 12)
  bytes.writeUInt32LE(1, 16)
  bytes.writeUInt32LE(1, 20)
  bytes.writeUInt32LE(1, 24)
  bytes.writeUInt32LE(base + addresses, 28)
  bytes.writeUInt32LE(base + names, 32)
  bytes.writeUInt32LE(base + numbers, 36)
  bytes.writeUInt32LE(addressOf(forwardTarget), addresses)
  bytes.writeUInt32LE(addressOf(exportedFunction), names)
  bytes.set(texts, start)
  return bytes
}
