/**
 * What is used of the SDK of MCP. The build replaces this module by a bundle of it (`bundle-sdk.ts`): the packages are
 * 8 MB, most of it other formats, types and source maps, and `npm i keyhook` would carry all of it.
 */
export {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  LOG_LEVEL_META_KEY,
  McpServer,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ResourceNotFoundError,
  SERVER_INFO_META_KEY,
  classifyInboundRequest,
  createMcpHandler,
} from '@modelcontextprotocol/server'
