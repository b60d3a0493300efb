# Serves config.ru as a Rack server does, without the gem, which is not part of Ruby.
require 'socket'
require 'stringio'

$stdout.sync = true

def run(application)
  server = TCPServer.new('127.0.0.1', 8080)
  while (client = server.accept)
    status, = application.call(read_request(client))
    client.write("HTTP/1.1 #{status} -\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    client.close
  end
end

def read_request(client)
  env = {}
  while (line = client.gets("\r\n", chomp: true)) && !line.empty?
    name, value = line.split(': ', 2)
    env["HTTP_#{name.upcase.tr('-', '_')}"] = value
  end
  env.merge('rack.input' => StringIO.new(client.read(env['HTTP_CONTENT_LENGTH'].to_i)))
end

load File.join(__dir__, 'config.ru')
