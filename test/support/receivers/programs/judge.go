package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func decode(field string) []byte {
	bytes, err := base64.StdEncoding.DecodeString(field)
	if err != nil {
		panic(err)
	}
	return bytes
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		secrets := []string{}
		for _, secret := range strings.Split(fields[1], ",") {
			secrets = append(secrets, string(decode(secret)))
		}
		header := ""
		if fields[3] != "-" {
			header = string(decode(fields[3]))
		}
		now, err := strconv.ParseInt(fields[4], 10, 64)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\t%t\n", fields[0], verify(secrets, decode(fields[2]), header, now))
	}
}
